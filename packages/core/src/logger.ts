/**
 * What the library writes its log lines to. `console` fits, and so does pino: the message comes first, an
 * object with the details second, and an adapter of three lines turns it round where a logger wants the
 * object first.
 */
export interface Logger {
  debug(message: string, details?: Readonly<Record<string, unknown>>): void;
  info(message: string, details?: Readonly<Record<string, unknown>>): void;
  warn(message: string, details?: Readonly<Record<string, unknown>>): void;
  error(message: string, details?: Readonly<Record<string, unknown>>): void;
}
