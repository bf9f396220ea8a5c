import type { TraceState } from '@opentelemetry/api';

const MOST_MEMBERS = 32;
const LONGEST = 512;
const KEY = /^(?:[a-z][_0-9a-z\-*/]{0,255}|[a-z0-9][_0-9a-z\-*/]{0,240}@[a-z][_0-9a-z\-*/]{0,13})$/;
const VALUE = /^[ -~]{0,255}[!-~]$/;

const valid = (key: string, value: string): boolean =>
  KEY.test(key) && VALUE.test(value) && !value.includes(',') && !value.includes('=');

/** The members of a `tracestate`, the latest changed first. Immutable. */
export class W3CTraceState implements TraceState {
  /** First the member that is written last. */
  readonly #members: ReadonlyMap<string, string>;
  readonly #length: number;

  private constructor(members: ReadonlyMap<string, string>, length: number) {
    this.#members = members;
    this.#length = length;
  }

  /** Reads a header. A member that is malformed, or would make it too long, is left out. */
  static read(header: string): W3CTraceState {
    const members = new Map<string, string>();
    let length = 0;
    for (const part of header.split(',')) {
      const member = part.trim();
      const at = member.indexOf('=');
      if (at === -1) continue;
      const key = member.slice(0, at);
      const value = member.slice(at + 1);
      if (!valid(key, value)) continue;
      const longer = length + member.length + (members.size > 0 ? 1 : 0);
      if (longer > LONGEST) continue;
      members.set(key, value);
      length = longer;
      if (members.size >= MOST_MEMBERS) break;
    }
    return new W3CTraceState(new Map([...members].reverse()), length);
  }

  get(key: string): string | undefined {
    return this.#members.get(key);
  }

  set(key: string, value: string): W3CTraceState {
    if (!valid(key, value)) return this;
    const before = this.#members.get(key);
    const longer =
      before === undefined
        ? key.length + value.length + (this.#members.size > 0 ? 2 : 1)
        : value.length - before.length;
    const length = this.#length + longer;
    if (length > LONGEST) return this;
    const members = new Map(this.#members);
    members.delete(key);
    members.set(key, value);
    return new W3CTraceState(members, length);
  }

  unset(key: string): W3CTraceState {
    const before = this.#members.get(key);
    if (before === undefined) return this;
    const members = new Map(this.#members);
    members.delete(key);
    const shorter = key.length + before.length + 1 + (members.size > 0 ? 1 : 0);
    return new W3CTraceState(members, this.#length - shorter);
  }

  serialize(): string {
    return [...this.#members]
      .reverse()
      .map(([key, value]) => `${key}=${value}`)
      .join(',');
  }
}
