import { type Attributes, type Exception, type Span, SpanStatusCode } from '@opentelemetry/api';
import { type Conventions, named } from './attribute-conventions.ts';
import { ATTR_ERROR_TYPE, ATTR_OUTCOME, ERROR_OUTCOMES } from './names.ts';
import { quietly } from './quietly.ts';

/** A span of ours while it is open. None of its methods throws, and one that records nothing costs nothing. */
export class OpenSpan {
  readonly #span: Span | undefined;
  readonly #conventions: Conventions;
  readonly #recording: boolean;
  #exception: unknown;
  #recorded = false;

  constructor(span: Span | undefined, conventions: Conventions) {
    this.#span = span;
    this.#conventions = conventions;
    this.#recording = quietly(() => span?.isRecording() === true) === true;
  }

  attributes(attributes: Attributes): void {
    if (!this.#recording) return;
    quietly(() => this.#span?.setAttributes(named(attributes, this.#conventions)));
  }

  event(name: string, attributes: Attributes): void {
    if (!this.#recording) return;
    quietly(() => this.#span?.addEvent(name, named(attributes, this.#conventions)));
  }

  /** Records an exception, the first only, and says nothing about the status. */
  exception(error: unknown): void {
    if (!this.#recording || this.#recorded) return;
    this.#recorded = true;
    this.#exception = error;
    quietly(() => this.#span?.recordException(exceptionOf(error)));
  }

  /** Names the outcome, and marks the span failed where the word says so. */
  outcome(word: string, details: Attributes = {}): void {
    if (!this.#recording) return;
    this.attributes({ [ATTR_OUTCOME]: word, ...details });
    if (ERROR_OUTCOMES.includes(word)) this.#failed(word, word);
  }

  /** The same, and records the error; the span is failed by it even where the word alone would not say so. */
  failure(word: string, error: unknown, details: Attributes = {}): void {
    if (!this.#recording) return;
    this.exception(error);
    this.outcome(word, details);
    if (!ERROR_OUTCOMES.includes(word)) this.#failed(messageOf(error) || 'failed', word);
  }

  /** Records an error of work that has no outcome. */
  fail(error: unknown): void {
    if (!this.#recording) return;
    this.exception(error);
    this.#failed(messageOf(error) || 'failed', typeName(error));
  }

  /** `at` is in milliseconds since the epoch; now without it. */
  end(at?: number): void {
    quietly(() => this.#span?.end(at));
  }

  #failed(message: string, type: string): void {
    quietly(() => this.#span?.setStatus({ code: SpanStatusCode.ERROR, message }));
    if (this.#conventions === 'acemq') return;
    const error = this.#recorded ? typeName(this.#exception) : type;
    quietly(() => this.#span?.setAttribute(ATTR_ERROR_TYPE, error));
  }
}

function exceptionOf(error: unknown): Exception {
  return error instanceof Error ? error : { name: typeName(error), message: messageOf(error) };
}

function messageOf(error: unknown): string {
  return quietly(() => (error instanceof Error ? error.message : String(error))) ?? '';
}

function typeName(error: unknown): string {
  return quietly(() => (error instanceof Error ? error.name : typeof error)) ?? 'Error';
}
