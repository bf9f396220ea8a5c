export type { AmqplibOptions, Credentials, TlsOptions } from './options.ts';
export { amqplibTransport } from './transport.ts';
