import type { Interceptable } from '@acemq/core';
import type { Attributes } from '@opentelemetry/api';
import type { Conventions } from './attribute-conventions.ts';
import { ATTR_SERVER_ADDRESS, ATTR_SERVER_PORT } from './names.ts';
import { quietly } from './quietly.ts';

/** What a span says of the broker that a link is on. */
export type Server = (link: 'publish' | 'consume') => Attributes | undefined;

/** Where no connection is known, and for the family's conventions, which have no names for it. */
export const NO_SERVER: Server = () => undefined;

/** The broker of a connection, as it is at each span. */
export function serverOf(connection: Interceptable, conventions: Conventions): Server {
  if (conventions === 'acemq') return NO_SERVER;
  return (link) => {
    const endpoint = quietly(() => connection.endpoint?.(link));
    if (endpoint === undefined) return undefined;
    return { [ATTR_SERVER_ADDRESS]: endpoint.host, [ATTR_SERVER_PORT]: endpoint.port };
  };
}
