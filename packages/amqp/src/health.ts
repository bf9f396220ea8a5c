import { checkOptions, type Duration, milliseconds } from '@acemq/core';
import {
  HEALTH_SENTENCES,
  type HealthPart,
  type HealthReport,
  type HealthStatus,
  healthReport,
} from '@acemq/health';
import type { RefusedDeclaration } from './link/recorded-topology.ts';
import type { ConnectionState, LinkRole } from './states.ts';

const { closed: CLOSED, blocked: BLOCKED, stalled: STALLED, silent: SILENT } = HEALTH_SENTENCES;

/** Milliseconds; below the deadline of whatever puts several checks together. */
const DEFAULT_TIMEOUT = 3_000;

/** What {@link Connection.health} may be given. */
export interface HealthOptions {
  /**
   * How long the broker has for its answer, at least 1 ms. Default 3 s. Keep it below the time-out of the
   * probe that asks.
   */
  readonly timeout?: Duration | undefined;
}

/** The milliseconds that a health check waits. Throws `ConfigurationError`. */
export function healthTimeoutOf(options: HealthOptions): number {
  checkOptions(options, ['timeout'], 'health');
  return options.timeout === undefined
    ? DEFAULT_TIMEOUT
    : milliseconds(options.timeout, 'timeout', { min: 1 });
}

/** One of the two links, as its supervisor has it. */
interface LinkFacts {
  readonly role: LinkRole;
  readonly state: ConnectionState;
  /** Why it was lost, or why the last attempt failed. */
  readonly reason: string | undefined;
}

/** What a report needs to know of a consumer. */
interface ConsumerFacts {
  readonly queue: string;
  readonly stalled: string | undefined;
  readonly inFlight: number;
  readonly held: number;
}

/** What a connection knows about itself without asking anybody. */
export interface HealthFacts {
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** Whether its owner has closed it, or has begun to. */
  readonly closed: boolean;
  readonly state: ConnectionState;
  readonly links: readonly LinkFacts[];
  readonly blocked: boolean | null;
  readonly blockedReason: string | undefined;
  readonly consumers: readonly ConsumerFacts[];
  readonly refused: readonly RefusedDeclaration[];
}

/** What became of the question to the broker. */
export type ProbeOutcome =
  /** Both links had an answer; the slower one took `seconds`. */
  | { readonly kind: 'answered'; readonly seconds: number }
  /** No answer within `timeout` milliseconds. */
  | { readonly kind: 'silent'; readonly timeout: number }
  | { readonly kind: 'failed'; readonly message: string };

/**
 * The report for what is known and what the broker said; `probe` is undefined where it was not asked.
 *
 * A blocked connection is up: taking the instance out would throw away what it holds, and its replacement would
 * be blocked by the same broker. Held messages say no more than that while it lasts. What does not come from
 * the alarm (a link that is down, an error for an answer, a consumer that does not read) counts all the same.
 */
export function decideHealth(facts: HealthFacts, probe: ProbeOutcome | undefined): HealthReport {
  const { status, detail } = verdict(facts, probe);
  return healthReport(status, { detail, checked: new Date(facts.now), parts: partsOf(facts, probe) });
}

interface Verdict {
  readonly status: HealthStatus;
  readonly detail: string;
}

function verdict(facts: HealthFacts, probe: ProbeOutcome | undefined): Verdict {
  if (facts.closed) return { status: 'down', detail: CLOSED };
  const blocked = facts.blocked === true ? [blockedSentence(facts.blockedReason)] : [];
  const down = downSentence(facts, probe);
  if (down !== undefined) return { status: 'down', detail: joined([down, ...blocked]) };
  const stalled = list(STALLED, stalledQueues(facts.consumers));
  const held = heldSentence(heldByQueue(facts.consumers));
  const refused = list('the broker has refused these declarations', Object.keys(reasonsOf(facts.refused)));
  const faults = [...stalled, ...refused, ...(blocked.length > 0 ? [] : held)];
  return {
    status: faults.length > 0 ? 'degraded' : 'up',
    detail: joined([...stalled, ...blocked, ...held, ...refused]),
  };
}

/** What makes it down, or undefined. Silence is none while the broker says that it reads nothing. */
function downSentence(facts: HealthFacts, probe: ProbeOutcome | undefined): string | undefined {
  if (probe?.kind === 'failed') return `${SILENT}: ${probe.message}`;
  if (probe?.kind === 'silent' && facts.blocked !== true) return `${SILENT} within ${probe.timeout / 1000}s`;
  const lost = facts.links.filter(({ state }) => state !== 'connected');
  const words = lost.map(({ state, reason }) => `is ${state}${reason === undefined ? '' : `: ${reason}`}`);
  const [first] = words;
  if (first === undefined) return undefined;
  return lost.length === facts.links.length && words.every((one) => one === first)
    ? `the connection ${first}`
    : joined(lost.map(({ role }, index) => `the ${role} link ${words[index]}`));
}

function partsOf(facts: HealthFacts, probe: ProbeOutcome | undefined): Record<string, HealthPart> {
  const { consumers, blockedReason } = facts;
  const stalled = stalledQueues(consumers);
  const held = heldByQueue(consumers);
  const refused = reasonsOf(facts.refused);
  return {
    state: facts.state,
    consumers: consumers.length,
    'in-flight': consumers.reduce((sum, { inFlight }) => sum + inFlight, 0),
    blocked: facts.blocked,
    ...(blockedReason === undefined || blockedReason === '' ? {} : { 'blocked-reason': blockedReason }),
    ...(probe?.kind === 'answered' ? { 'round-trip': Math.round(probe.seconds * 10_000) / 10_000 } : {}),
    ...(probe?.kind === 'failed' ? { error: probe.message } : {}),
    ...(stalled.length > 0 ? { stalled } : {}),
    ...(held.size > 0 ? { held: Object.fromEntries(held) } : {}),
    ...(facts.refused.length > 0 ? { refused } : {}),
  };
}

function blockedSentence(reason: string | undefined): string {
  return reason === undefined || reason === '' ? BLOCKED : `${BLOCKED}: ${reason}`;
}

/** The queues that are not read although nobody closed their consumer, each once. */
function stalledQueues(consumers: readonly ConsumerFacts[]): string[] {
  const queues = consumers.filter(({ stalled }) => stalled !== undefined).map(({ queue }) => queue);
  return [...new Set(queues)].sort();
}

function heldByQueue(consumers: readonly ConsumerFacts[]): Map<string, number> {
  const held = new Map<string, number>();
  for (const one of consumers) {
    if (one.held > 0) held.set(one.queue, (held.get(one.queue) ?? 0) + one.held);
  }
  return held;
}

function heldSentence(held: ReadonlyMap<string, number>): string[] {
  const count = [...held.values()].reduce((sum, one) => sum + one, 0);
  if (count === 0) return [];
  return count === 1
    ? ['1 message is held: its copy cannot be placed']
    : [`${count} messages are held: their copies cannot be placed`];
}

function reasonsOf(refused: readonly RefusedDeclaration[]): Record<string, string> {
  return Object.fromEntries(refused.map(({ what, reason }) => [what, reason]));
}

function list(words: string, names: readonly string[]): string[] {
  return names.length === 0 ? [] : [`${words}: ${names.join(', ')}`];
}

function joined(sentences: readonly string[]): string {
  return sentences.join('; and ');
}
