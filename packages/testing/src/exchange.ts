import type { ExchangeSpec } from '@acemq/core';
import type { MemoryQueue } from './queue.ts';
import { matchesTopic, topicWords } from './topic.ts';

/** A queue bound to an exchange. */
export interface Bound {
  readonly queue: MemoryQueue;
  readonly routingKey: string;
  readonly words: readonly string[];
}

/** An exchange: its declaration, its bindings, and which queues a message goes to. */
export class MemoryExchange {
  readonly name: string;
  readonly spec: ExchangeSpec;
  /** Where a message goes that reaches no queue, if anywhere. */
  readonly alternate: string | undefined;
  readonly #bindings: Bound[] = [];
  /** The same bindings by key: what a direct exchange asks for every message. */
  readonly #byKey = new Map<string, MemoryQueue[]>();

  constructor(name: string, spec: ExchangeSpec) {
    this.name = name;
    this.spec = spec;
    const alternate = Object.hasOwn(spec.arguments, 'alternate-exchange')
      ? spec.arguments['alternate-exchange']
      : undefined;
    this.alternate = typeof alternate === 'string' ? alternate : undefined;
  }

  get bindings(): readonly Bound[] {
    return this.#bindings;
  }

  bind(queue: MemoryQueue, routingKey: string): void {
    const bound = this.#byKey.get(routingKey);
    if (bound?.includes(queue)) return;
    if (bound === undefined) this.#byKey.set(routingKey, [queue]);
    else bound.push(queue);
    this.#bindings.push({ queue, routingKey, words: topicWords(routingKey) });
  }

  /** Takes every binding of a queue away, and says whether there was one. */
  unbind(queue: MemoryQueue): boolean {
    const left = this.#bindings.filter((bound) => bound.queue !== queue);
    if (left.length === this.#bindings.length) return false;
    this.#bindings.splice(0, this.#bindings.length, ...left);
    this.#byKey.clear();
    for (const bound of left) {
      const others = this.#byKey.get(bound.routingKey);
      if (others === undefined) this.#byKey.set(bound.routingKey, [bound.queue]);
      else others.push(bound.queue);
    }
    return true;
  }

  /** The queues that a message with this key goes to; one may be named more than once. */
  matching(routingKey: string): readonly MemoryQueue[] {
    switch (this.spec.type) {
      case 'direct':
        return this.#byKey.get(routingKey) ?? [];
      case 'topic': {
        const words = topicWords(routingKey);
        const found: MemoryQueue[] = [];
        for (const bound of this.#bindings) {
          if (matchesTopic(bound.words, words)) found.push(bound.queue);
        }
        return found;
      }
      default:
        // A headers exchange too: a binding of this port has no arguments, and one without matches every
        // message.
        return this.#bindings.map((bound) => bound.queue);
    }
  }
}
