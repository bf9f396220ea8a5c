import type { Envelope } from '@acemq/core';
import {
  type Attributes,
  type Context,
  ProxyTracerProvider,
  type Span,
  type SpanKind,
  type TimeInput,
  type Tracer,
  type TracerProvider,
  trace,
} from '@opentelemetry/api';
import { type Conventions, named } from './attribute-conventions.ts';
import {
  ATTR_CONVERSATION_ID,
  ATTR_DESTINATION,
  ATTR_MESSAGE_ID,
  ATTR_MESSAGE_TYPE,
  ATTR_OPERATION,
  ATTR_SYSTEM,
  INSTRUMENTATION_NAME,
} from './names.ts';
import { OpenSpan } from './open-span.ts';
import { quietly } from './quietly.ts';
import { VERSION } from './version.ts';

/** A span that was opened, and the context in which it is the current one. */
export interface Opened {
  readonly span: OpenSpan;
  readonly context: Context;
}

/** What a span is opened with. */
export interface Opening {
  readonly name: string;
  readonly kind: SpanKind;
  readonly parent: Context;
  readonly attributes: Attributes;
  readonly startTime?: TimeInput;
}

/** Opens spans under the library's scope. */
export class Spans {
  readonly #conventions: Conventions;
  readonly #system: string;
  readonly #provider: TracerProvider | undefined;
  /** Whose tracer is kept; another provider may be registered at any time. */
  #asked: TracerProvider | undefined;
  #tracer: Tracer | undefined;

  constructor(system: string, conventions: Conventions, provider: TracerProvider | undefined) {
    this.#system = system;
    this.#conventions = conventions;
    this.#provider = provider;
  }

  /** Whether nobody makes spans, as with the API alone. */
  get none(): boolean {
    return quietly(() => this.#current()) === undefined;
  }

  open({ name, kind, parent, attributes, startTime }: Opening): Opened {
    const made = quietly(() => {
      const tracer = this.#current();
      if (tracer === undefined) return undefined;
      const given = { kind, attributes: named(attributes, this.#conventions) };
      const span: Span = tracer.startSpan(
        name,
        startTime === undefined ? given : { ...given, startTime },
        parent,
      );
      return { span, context: trace.setSpan(parent, span) };
    });
    return { span: new OpenSpan(made?.span, this.#conventions), context: made?.context ?? parent };
  }

  #current(): Tracer | undefined {
    const global = this.#provider ?? trace.getTracerProvider();
    // The API's own stand-in, which makes a new tracer at each call and one that does nothing without an SDK.
    const proxy = global instanceof ProxyTracerProvider ? global : undefined;
    const provider = proxy?.getDelegate() ?? global;
    if (provider !== this.#asked) {
      this.#tracer =
        proxy === undefined
          ? provider.getTracer(INSTRUMENTATION_NAME, VERSION)
          : proxy.getDelegateTracer(INSTRUMENTATION_NAME, VERSION);
      this.#asked = provider;
    }
    return this.#tracer;
  }

  /** What every span about a message says. */
  about(destination: string, operation: string, envelope: Envelope): Attributes {
    return {
      [ATTR_SYSTEM]: this.#system,
      [ATTR_DESTINATION]: destination,
      [ATTR_OPERATION]: operation,
      [ATTR_MESSAGE_ID]: envelope.id,
      [ATTR_CONVERSATION_ID]: envelope.correlationId,
      [ATTR_MESSAGE_TYPE]: envelope.type,
    };
  }

  /** A span that somebody else opened and that is current in a context. */
  current(context: Context): OpenSpan {
    return new OpenSpan(
      quietly(() => trace.getSpan(context)),
      this.#conventions,
    );
  }
}
