/**
 * What the library writes its log lines to: the message, then an object with the details. `console` fits as it is, and
 * so does a logger of pino's, which is recognised and given the object first.
 */
export interface Logger {
  debug(message: string, details?: Readonly<Record<string, unknown>>): void;
  info(message: string, details?: Readonly<Record<string, unknown>>): void;
  warn(message: string, details?: Readonly<Record<string, unknown>>): void;
  error(message: string, details?: Readonly<Record<string, unknown>>): void;
}
