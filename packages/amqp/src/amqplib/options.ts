import {
  createSecureContext,
  type PeerCertificate,
  type SecureContext,
  type SecureContextOptions,
} from 'node:tls';
import { ConfigurationError, checkOptions } from '@acemq/core';
import type { Endpoint } from './endpoints.ts';
import { wordsOf } from './refusal.ts';

/** Who logs in. */
export interface Credentials {
  readonly username: string;
  readonly password: string;
}

/** TLS towards `amqps://` endpoints, as `node:tls` has it. */
export interface TlsOptions {
  /**
   * Certificates of the authorities that may have signed the broker's; PEM. Default: those that Node knows.
   */
  readonly ca?: string | Uint8Array | readonly (string | Uint8Array)[];
  /** This client's own certificate chain, PEM, where the broker asks for one. */
  readonly cert?: string | Uint8Array;
  /** The private key of `cert`, PEM. */
  readonly key?: string | Uint8Array;
  /** `cert` and `key` in one PKCS #12 file instead. */
  readonly pfx?: string | Uint8Array;
  /** What unlocks `key` or `pfx`. */
  readonly passphrase?: string;
  /** The name to ask for and to find in the broker's certificate. Default: the host of the URL. */
  readonly servername?: string;
  /** False accepts any certificate, and with it anybody between here and the broker. Default: true. */
  readonly rejectUnauthorized?: boolean;
  /** The oldest version allowed. Default: Node's. */
  readonly minVersion?: 'TLSv1.2' | 'TLSv1.3';
  /** Judges the name in the broker's certificate in place of Node; returns an error to refuse it. */
  readonly checkServerIdentity?: (hostname: string, certificate: PeerCertificate) => Error | undefined;
}

/** Options of {@link amqplibTransport}. */
export interface AmqplibOptions {
  /** Only with `amqps://`. */
  readonly tls?: TlsOptions;
  /** Asked at every dial, so that a secret may change while the service runs. Default: what the URL says. */
  readonly credentials?: () => Credentials | Promise<Credentials>;
  /** The vhost of every endpoint. Default: the URL's, else `/`. A URL that names another is refused. */
  readonly vhost?: string;
  /** Largest frame to agree on, in bytes: 4096 to 2^31 - 1, lowered to the broker's own. Default: 131072. */
  readonly frameMax?: number;
  /** Most channels to agree on: 1 to 65535, lowered to the broker's own. Default: the broker's. */
  readonly channelMax?: number;
}

/** {@link AmqplibOptions}, checked and filled in. */
export interface Settings {
  readonly tls: TlsSettings | undefined;
  readonly credentials: (() => Credentials | Promise<Credentials>) | undefined;
  readonly vhost: string | undefined;
  readonly frameMax: number;
  /** 0 for the broker's. */
  readonly channelMax: number;
}

/** What `tls.connect` is given. The certificates are read once, not at every dial. */
export interface TlsSettings {
  readonly secureContext: SecureContext;
  readonly rejectUnauthorized: boolean;
  readonly servername?: string;
  readonly checkServerIdentity?: (hostname: string, certificate: PeerCertificate) => Error | undefined;
}

const OPTIONS = ['tls', 'credentials', 'vhost', 'frameMax', 'channelMax'];
const TLS_OPTIONS = [
  'ca',
  'cert',
  'key',
  'pfx',
  'passphrase',
  'servername',
  'rejectUnauthorized',
  'minVersion',
  'checkServerIdentity',
];

/** The least that AMQP allows a frame to be limited to (AMQP 0-9-1, `frame-min-size`). */
const FRAME_MIN = 4096;
const FRAME_MAX_DEFAULT = 131_072;

/** Checks the options against each other and against the endpoints. Throws `ConfigurationError`. */
export function readSettings(options: AmqplibOptions, endpoints: readonly Endpoint[]): Settings {
  checkOptions(options, OPTIONS, 'amqplibTransport');
  if (options.credentials !== undefined && typeof options.credentials !== 'function') {
    throw new ConfigurationError('credentials must be a function that returns { username, password }');
  }
  return Object.freeze({
    tls: readTls(options.tls, endpoints),
    credentials: options.credentials,
    vhost: readVhost(options.vhost, endpoints),
    frameMax: readWhole('frameMax', options.frameMax, FRAME_MIN, 0x7fff_ffff) ?? FRAME_MAX_DEFAULT,
    channelMax: readWhole('channelMax', options.channelMax, 1, 0xffff) ?? 0,
  });
}

function readTls(tls: TlsOptions | undefined, endpoints: readonly Endpoint[]): TlsSettings | undefined {
  if (tls !== undefined) {
    checkOptions(tls, TLS_OPTIONS, 'tls');
    if (endpoints.some((endpoint) => !endpoint.secure)) {
      throw new ConfigurationError(
        'tls is given, but an endpoint is amqp://, which is not encrypted; allowed: amqps://',
      );
    }
  } else if (!endpoints.some((endpoint) => endpoint.secure)) {
    return undefined;
  }
  const { servername, rejectUnauthorized, checkServerIdentity, ...certificates } = tls ?? {};
  return {
    secureContext: readCertificates(certificates),
    rejectUnauthorized: rejectUnauthorized ?? true,
    ...(servername === undefined ? {} : { servername }),
    ...(checkServerIdentity === undefined ? {} : { checkServerIdentity }),
  };
}

function readCertificates(
  certificates: Omit<TlsOptions, 'servername' | 'checkServerIdentity'>,
): SecureContext {
  try {
    return createSecureContext(certificates as SecureContextOptions);
  } catch (error) {
    throw new ConfigurationError(`tls cannot be used: ${wordsOf(error)}`, { cause: error });
  }
}

function readVhost(vhost: string | undefined, endpoints: readonly Endpoint[]): string | undefined {
  if (vhost === undefined) return undefined;
  if (typeof vhost !== 'string' || vhost === '' || Buffer.byteLength(vhost) > 255) {
    throw new ConfigurationError(`vhost is ${JSON.stringify(vhost)}; allowed: a name of 1 to 255 bytes`);
  }
  const other = endpoints.find((endpoint) => endpoint.vhost !== undefined && endpoint.vhost !== vhost);
  if (other !== undefined) {
    throw new ConfigurationError(
      `vhost is "${vhost}", but a URL names the vhost "${other.vhost}"; give one of the two`,
    );
  }
  return vhost;
}

function readWhole(
  option: string,
  value: number | undefined,
  least: number,
  most: number,
): number | undefined {
  if (value === undefined) return undefined;
  if (!Number.isInteger(value) || value < least || value > most) {
    throw new ConfigurationError(
      `${option} is ${String(value)}; allowed: a whole number from ${least} to ${most}`,
    );
  }
  return value;
}
