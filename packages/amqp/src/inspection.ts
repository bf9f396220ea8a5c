import {
  BrokerRefusedError,
  type Difference,
  type Link,
  REPLY_NOT_FOUND,
  REPLY_PRECONDITION_FAILED,
  TopologyError,
  type TopologyPlan,
} from '@acemq/core';

/** How one item of a plan stands on the broker. */
export type PlanState =
  /** It is not there and would be declared. */
  | 'create'
  /** It is there, as planned. */
  | 'present'
  /** It is there, and is not what is planned; the broker would refuse the declaration. */
  | 'differs'
  /** It cannot be told, for the reason given: the broker has no question for it, or the login may not ask. */
  | 'unknown';

/** One item of a plan, held against the broker. */
export interface PlanItem {
  readonly kind: 'exchange' | 'queue' | 'binding';
  /** The name; for a binding `queue <- exchange (routing key)`. */
  readonly name: string;
  readonly state: PlanState;
  /** What differs, as far as the broker says; it names the first thing it minds. Empty unless `differs`. */
  readonly differences: readonly Difference[];
  /** Why it is unknown; empty otherwise. */
  readonly reason: string;
}

/** A plan, held against the broker. Nothing was declared. */
export interface PlanReport {
  readonly items: readonly PlanItem[];
  /** Whether declaring the plan would be refused. */
  readonly drift: boolean;
  /** One line an item, for people. */
  toString(): string;
}

/**
 * Holds a plan against the broker and changes nothing: an item is asked for first, and only one that is there
 * is offered to the broker as planned, which leaves it as it is or names what differs.
 */
export async function inspectPlan(plan: TopologyPlan, link: Link): Promise<PlanReport> {
  const items: PlanItem[] = [];
  for (const { name, spec } of plan.exchanges) {
    items.push(
      await inspect(
        'exchange',
        name,
        () => link.checkExchange(name),
        () => link.declareExchange(name, spec),
      ),
    );
  }
  for (const { name, spec } of plan.queues) {
    items.push(
      await inspect(
        'queue',
        name,
        async () => (await link.checkQueue(name)) !== undefined,
        () => link.declareQueue(name, spec),
      ),
    );
  }
  for (const { queue, exchange, routingKey } of plan.bindings) {
    items.push(
      item('binding', `${queue} <- ${exchange} (${JSON.stringify(routingKey)})`, 'unknown', {
        reason: 'the broker has no question for a binding',
      }),
    );
  }
  return new Report(items);
}

/** The error for a plan that the broker would refuse. */
export function driftError(report: PlanReport): TopologyError {
  const differences = report.items.flatMap((one) => one.differences);
  const lines = differences.map(describeDifference);
  return new TopologyError(
    `what is to be declared differs from what exists, so nothing was declared: ${lines.join('; ')}. ` +
      'The library changes no queue or exchange that exists: declare what is there, or delete it or take another name.',
    { differences },
  );
}

/** A refusal of one declaration, as the difference it speaks of. */
export function refusedDeclaration(
  kind: 'exchange' | 'queue',
  name: string,
  error: BrokerRefusedError,
): TopologyError | BrokerRefusedError {
  if (error.replyCode !== REPLY_PRECONDITION_FAILED) return error;
  const difference = readDifference(kind, name, error.replyText);
  return new TopologyError(`${describeDifference(difference)}; nothing was changed`, {
    differences: [difference],
    cause: error,
  });
}

async function inspect(
  kind: 'exchange' | 'queue',
  name: string,
  exists: () => Promise<boolean>,
  offer: () => Promise<void>,
): Promise<PlanItem> {
  try {
    if (!(await exists())) return item(kind, name, 'create');
    await offer();
    return item(kind, name, 'present');
  } catch (error) {
    if (!(error instanceof BrokerRefusedError)) throw error;
    if (error.replyCode === REPLY_PRECONDITION_FAILED) {
      return item(kind, name, 'differs', { differences: [readDifference(kind, name, error.replyText)] });
    }
    if (error.replyCode === REPLY_NOT_FOUND) return item(kind, name, 'create');
    return item(kind, name, 'unknown', { reason: `${error.replyCode} ${error.replyText}` });
  }
}

function item(
  kind: PlanItem['kind'],
  name: string,
  state: PlanState,
  more: { readonly differences?: readonly Difference[]; readonly reason?: string } = {},
): PlanItem {
  return Object.freeze({ kind, name, state, differences: more.differences ?? [], reason: more.reason ?? '' });
}

/** The last `received`, since the name of the queue stands before it and may hold any words. */
const INEQUIVALENT = /inequivalent arg '(.*?)' for .*: received (.+) but current is (.+)$/s;

/**
 * `none`, a value with its type where only one side has it, else the bare value. Quotes inside are not
 * escaped.
 */
const VALUE = /^(?:the value '(.*)' of type '[^']*'|'(.*)'|none)$/s;

/**
 * What the broker's text says; as a whole under the argument `declaration` where it is not in the words known
 * here.
 */
export function readDifference(kind: 'exchange' | 'queue', name: string, text: string): Difference {
  const [, argument, received = '', current = ''] = INEQUIVALENT.exec(text) ?? [];
  const wanted = readValue(received);
  const found = readValue(current);
  if (argument === undefined || wanted === undefined || found === undefined) {
    return Object.freeze({ kind, name, argument: 'declaration', wanted: 'as planned', found: text });
  }
  return Object.freeze({ kind, name, argument, wanted, found });
}

function readValue(text: string): string | undefined {
  const value = VALUE.exec(text);
  return value === null ? undefined : (value[1] ?? value[2] ?? 'none');
}

function describeDifference({ kind, name, argument, wanted, found }: Difference): string {
  return `${kind} ${name} exists with ${argument} ${found}, and ${wanted} is wanted`;
}

class Report implements PlanReport {
  readonly items: readonly PlanItem[];
  readonly drift: boolean;

  constructor(items: readonly PlanItem[]) {
    this.items = Object.freeze(items);
    this.drift = items.some((one) => one.state === 'differs');
    Object.freeze(this);
  }

  toString(): string {
    return this.items
      .map(({ kind, name, state, differences, reason }) => {
        const more = differences.map(describeDifference).join('; ') || reason;
        return `${state.padEnd(8)}${kind} ${name}${more === '' ? '' : `: ${more}`}`;
      })
      .join('\n');
  }
}
