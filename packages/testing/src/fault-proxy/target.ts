import { ConfigurationError } from '@acemq/core';

/** Where a proxy passes things on to. */
export interface Target {
  readonly host: string;
  readonly port: number;
  /** Whether its frames can be seen. */
  readonly framed: boolean;
  /** The same URL by way of a proxy on this machine. */
  through(port: number): string;
}

const DEFAULT_PORTS: Readonly<Record<string, number>> = { 'amqp:': 5672, 'amqps:': 5671 };

/** Reads the URL of a broker. Throws `ConfigurationError`, which does not show it: it may hold a password. */
export function targetOf(url: string): Target {
  const target = URL.canParse(url) ? new URL(url) : undefined;
  const usual = target === undefined ? undefined : DEFAULT_PORTS[target.protocol];
  if (target === undefined || usual === undefined) {
    throw new ConfigurationError(
      'faultProxy(url): not the URL of a broker (not shown: it may hold a password); allowed: amqp:// or amqps://',
    );
  }
  const host = target.hostname.replace(/^\[|\]$/g, '');
  return {
    host: host === '' ? 'localhost' : host,
    port: target.port === '' ? usual : Number(target.port),
    framed: target.protocol === 'amqp:',
    through(port) {
      const proxied = new URL(url);
      proxied.hostname = '127.0.0.1';
      proxied.port = String(port);
      return proxied.href;
    },
  };
}
