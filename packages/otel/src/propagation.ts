import { readText } from '@acemq/core';
import {
  type Context,
  defaultTextMapGetter,
  defaultTextMapSetter,
  propagation,
  ROOT_CONTEXT,
  type TextMapPropagator,
} from '@opentelemetry/api';
import { quietly } from './quietly.ts';
import { TRACE_HEADERS, W3C } from './w3c.ts';

interface Chosen {
  readonly propagator: TextMapPropagator;
  readonly fields: readonly string[];
}

const W3C_HEADERS: Chosen = Object.freeze({ propagator: W3C, fields: TRACE_HEADERS });

/** Where trace headers are read and written. Asks for the global propagator at each call. */
export class Propagation {
  readonly #given: TextMapPropagator | undefined;
  readonly #w3c: boolean;

  /** `w3c` says to leave the global propagator alone where none is given. */
  constructor(given: TextMapPropagator | undefined, w3c: boolean) {
    this.#given = given;
    this.#w3c = w3c;
  }

  #propagator(): Chosen {
    const wanted = this.#given ?? (this.#w3c ? W3C : propagation);
    if (wanted === W3C) return W3C_HEADERS;
    const fields = wanted.fields();
    return fields.length === 0 ? W3C_HEADERS : { propagator: wanted, fields };
  }

  /** The headers of a context, in a new object. */
  headers(context: Context): Record<string, string> {
    const carrier: Record<string, string> = {};
    quietly(() => this.#propagator().propagator.inject(context, carrier, defaultTextMapSetter));
    return carrier;
  }

  /** The context that a message's own headers name; the root where they name none. */
  context(headers: Readonly<Record<string, unknown>>): Context {
    const extracted = quietly(() => {
      const { propagator, fields } = this.#propagator();
      const carrier: Record<string, string> = {};
      for (const field of fields) {
        const text = readText(headers, field);
        if (text !== undefined) carrier[field] = text;
      }
      return propagator.extract(ROOT_CONTEXT, carrier, defaultTextMapGetter);
    });
    return extracted ?? ROOT_CONTEXT;
  }
}
