import type { Attributes, AttributeValue } from '@opentelemetry/api';
import {
  ATTR_ATTEMPT,
  ATTR_CONVERSATION_ID,
  ATTR_DESTINATION,
  ATTR_MESSAGE_ID,
  ATTR_MESSAGE_TYPE,
  ATTR_OPERATION,
  ATTR_OUTCOME,
  ATTR_REASON,
  ATTR_ROUTING_KEY,
  ATTR_SYSTEM,
} from './names.ts';

/** Which names attributes have: the family's, those of the current semantic conventions, or both. */
export type Conventions = 'acemq' | 'otel' | 'both';

/** One attribute of the family, and what the semantic conventions say instead. */
export interface AttributeMapping {
  readonly acemq: string;
  /** Its names in the semantic conventions; the family's own where those have none. */
  readonly otel: readonly string[];
}

const row = (acemq: string, ...otel: readonly string[]): AttributeMapping =>
  Object.freeze({ acemq, otel: Object.freeze(otel.length === 0 ? [acemq] : [...otel]) });

const OTEL_SYSTEM = 'messaging.system.name';
const OTEL_OPERATION_NAME = 'messaging.operation.name';
const OTEL_OPERATION_TYPE = 'messaging.operation.type';

/** Every attribute of a span. An attribute that is not here has one name under every convention. */
export const ATTRIBUTE_CONVENTIONS: readonly AttributeMapping[] = Object.freeze([
  row(ATTR_SYSTEM, OTEL_SYSTEM),
  row(ATTR_DESTINATION),
  row(ATTR_OPERATION, OTEL_OPERATION_NAME, OTEL_OPERATION_TYPE),
  row(ATTR_MESSAGE_ID),
  row(ATTR_CONVERSATION_ID),
  row(ATTR_ROUTING_KEY),
  row(ATTR_MESSAGE_TYPE),
  row(ATTR_ATTEMPT),
  row(ATTR_OUTCOME),
  row(ATTR_REASON),
]);

/** What `messaging.operation.type` says for each operation of the family. */
export const OPERATION_TYPES: Readonly<Record<string, string>> = Object.freeze({
  publish: 'send',
  process: 'process',
  request: 'send',
});

const MAPPED: ReadonlyMap<string, readonly string[]> = new Map(
  ATTRIBUTE_CONVENTIONS.map(({ acemq, otel }) => [acemq, otel]),
);

/** The attributes under the names that a convention wants. */
export function named(attributes: Attributes, conventions: Conventions): Attributes {
  if (conventions === 'acemq') return attributes;
  const result: Attributes = conventions === 'both' ? { ...attributes } : {};
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined) continue;
    for (const theirs of MAPPED.get(name) ?? [name]) result[theirs] = translated(theirs, value);
  }
  return result;
}

function translated(name: string, value: AttributeValue): AttributeValue {
  return name === OTEL_OPERATION_TYPE ? (OPERATION_TYPES[String(value)] ?? value) : value;
}
