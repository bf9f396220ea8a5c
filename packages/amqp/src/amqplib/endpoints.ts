import { ConfigurationError } from '@acemq/core';

/**
 * One place to dial, out of a URL. It holds the credentials and is never shown: {@link Endpoint.label} is.
 */
export interface Endpoint {
  readonly secure: boolean;
  readonly host: string;
  readonly port: number;
  /** The vhost named in the URL; `undefined` when the URL has no path. */
  readonly vhost: string | undefined;
  readonly username: string;
  readonly password: string;
}

const WHAT_IS_ALLOWED = 'amqp://[user:password@]host[:port][/vhost], or amqps:// for TLS';

/** Bytes; AMQP has one byte for its length. */
const LONGEST_VHOST = 255;

/**
 * Where the options that other clients take from a URL's query belong. No other name of a query is repeated:
 * it may be half a password.
 */
const ELSEWHERE: Readonly<Record<string, string>> = {
  heartbeat: 'connect',
  connection_timeout: 'connect',
  timeout: 'connect',
  frameMax: 'the transport',
  frame_max: 'the transport',
  channelMax: 'the transport',
  channel_max: 'the transport',
  cacertfile: 'tls',
  certfile: 'tls',
  keyfile: 'tls',
  verify: 'tls',
  server_name_indication: 'tls',
};

/**
 * Reads the URLs to dial. Port 5672, or 5671 for `amqps`; user and password `guest`; user, password and vhost
 * are percent-decoded as UTF-8. `amqp://host` and `amqp://host/` both leave the vhost open.
 *
 * Throws `ConfigurationError` for an empty list, a text that is no URL, another scheme, a query or a
 * fragment. No message repeats more of the text than its scheme: what cannot be read may hold a password.
 */
export function readEndpoints(target: string | readonly string[]): readonly Endpoint[] {
  const urls = typeof target === 'string' ? [target] : target;
  if (!Array.isArray(urls) || urls.length === 0) {
    throw new ConfigurationError(`target must be a URL or a list of at least one: ${WHAT_IS_ALLOWED}`);
  }
  return urls.map((url, index) => readEndpoint(url, urls.length > 1 ? `target[${index}]` : 'target'));
}

/** What may be shown of an endpoint: no user, no password. */
export function labelOf(endpoint: Endpoint, vhost: string): string {
  const host = endpoint.host.includes(':') ? `[${endpoint.host}]` : endpoint.host;
  const path = vhost === '/' ? '' : `/${encodeURIComponent(vhost)}`;
  return `${endpoint.secure ? 'amqps' : 'amqp'}://${host}:${endpoint.port}${path}`;
}

function readEndpoint(text: unknown, option: string): Endpoint {
  const url = typeof text === 'string' && URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !(text as string).includes('://')) {
    throw new ConfigurationError(
      `${option} is not a URL (not shown: it may hold a password); allowed: ${WHAT_IS_ALLOWED}`,
    );
  }
  if (url.protocol !== 'amqp:' && url.protocol !== 'amqps:') {
    throw new ConfigurationError(`${option} has the scheme "${url.protocol}//"; allowed: ${WHAT_IS_ALLOWED}`);
  }
  if (url.hostname === '')
    throw new ConfigurationError(`${option} names no host; allowed: ${WHAT_IS_ALLOWED}`);
  refuseQuery(url, option);
  const secure = url.protocol === 'amqps:';
  const anonymous = url.username === '' && url.password === '';
  return Object.freeze({
    secure,
    host: url.hostname.replace(/^\[|\]$/g, ''),
    port: readPort(url, secure, option),
    vhost: readVhost(url, option),
    username: anonymous ? 'guest' : decode(url.username, 'user', option),
    password: anonymous ? 'guest' : decode(url.password, 'password', option),
  });
}

function refuseQuery(url: URL, option: string): void {
  for (const name of url.searchParams.keys()) {
    const home = Object.hasOwn(ELSEWHERE, name) ? ELSEWHERE[name] : undefined;
    if (home !== undefined) {
      throw new ConfigurationError(
        `${option} has "${name}" in its query; give it as an option of ${home} instead`,
      );
    }
  }
  if (url.search !== '' || url.hash !== '') {
    throw new ConfigurationError(
      `${option} has a query or a fragment, and none is understood; a "?" or "#" in a password is written %3F or %23`,
    );
  }
}

function readPort(url: URL, secure: boolean, option: string): number {
  if (url.port === '') return secure ? 5671 : 5672;
  const port = Number(url.port);
  if (port === 0) throw new ConfigurationError(`${option} has the port 0; allowed: 1 to 65535`);
  return port;
}

function readVhost(url: URL, option: string): string | undefined {
  const path = url.pathname.slice(1);
  if (path === '') return undefined;
  if (path.includes('/') || path.includes('@')) {
    throw new ConfigurationError(
      `${option} has a "/" or "@" in its path; in a vhost or a password they are written %2F and %40`,
    );
  }
  const vhost = decode(path, 'vhost', option);
  if (Buffer.byteLength(vhost) > LONGEST_VHOST) {
    throw new ConfigurationError(`${option} has a vhost of more than ${LONGEST_VHOST} bytes`);
  }
  return vhost;
}

function decode(text: string, part: string, option: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new ConfigurationError(
      `${option} has a ${part} that is not percent-encoded UTF-8; a "%" is written %25`,
    );
  }
}
