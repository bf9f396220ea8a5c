import {
  type Ack,
  accept,
  createEnvelope,
  FatalError,
  fixed,
  inProgress,
  PublishingPausedError,
  park,
  RequestTimeoutError,
  type RetryPolicy,
  reject,
  retry,
} from '@acemq/core';
import { ROOT_CONTEXT, SpanKind, type SpanStatus, SpanStatusCode, trace } from '@opentelemetry/api';
import type { ReadableSpan } from '@opentelemetry/sdk-trace-base';
import { describe, expect, test } from 'vitest';
import { within } from '../src/carried-context.ts';
import { type Conventions, type OpenTelemetryTracing, SPAN_QUEUE_WAIT } from '../src/index.ts';
import { CONTRACT, definitionOf, namesUnder } from './contract.ts';
import { type Traced, traced } from './setting.ts';

const CONVENTIONS: readonly Conventions[] = ['acemq', 'otel', 'both'];
const KINDS = {
  internal: SpanKind.INTERNAL,
  client: SpanKind.CLIENT,
  server: SpanKind.SERVER,
  producer: SpanKind.PRODUCER,
  consumer: SpanKind.CONSUMER,
};
const FAMILY = CONTRACT.conventions.map(({ acemq }) => acemq);
const OPERATION = 'messaging.operation';
const OUTCOME = 'messaging.acemq.outcome';
const MESSAGE = 'the payment gateway did not answer';
const boom = new Error(MESSAGE);
const envelope = createEnvelope({ type: 'order' }, { routingKey: 'pricing', now: 0 });
const thrown = (error: Error) => (): never => {
  throw error;
};

/** How each handler of the contract answers, and under which policy. */
const HANDLERS: Readonly<Record<string, readonly [handler: () => Ack, policy?: RetryPolicy]>> = {
  'the handler accepts': [accept],
  'the handler asks for a retry with an error and one is left': [() => retry(boom), fixed(2, '1m')],
  'the handler throws and a retry is left': [thrown(boom), fixed(2, '1m')],
  'the handler rejects with an error': [() => reject(boom)],
  'the handler asks for a retry with an error and none is left': [() => retry(boom)],
  'the handler throws and no retry is left': [thrown(boom)],
  'the message is too old for another attempt': [() => retry(boom), fixed(9, '1m').giveUpAfter('30s')],
  'the handler throws a fatal error': [thrown(new FatalError('never')), fixed(2, '1m')],
  'the handler returns something else': [(() => 'done') as unknown as () => Ack],
  'the handler parks': [() => park(boom)],
  'the handler says that somebody else is at it': [inProgress],
};

/** How each outcome of a publish comes about. */
const PUBLISHES: Readonly<Record<string, (stage: Traced) => Promise<unknown>>> = {
  confirmed: ({ mq, queue }) => mq.publisher({ routingKey: queue }).send({}),
  unroutable: ({ mq, queue }) => {
    mq.interceptPublish((message, next) => {
      message.routingKey = `${queue}-nowhere`;
      return next();
    });
    return mq.publisher({ routingKey: queue }).send({});
  },
  refused: ({ mq, queue }) => {
    mq.interceptPublish(() => Promise.reject(new PublishingPausedError(MESSAGE)));
    return mq.publisher({ routingKey: queue }).send({});
  },
  failed: ({ mq, queue }) => {
    mq.interceptPublish(() => Promise.reject(boom));
    return mq.publisher({ routingKey: queue }).send({});
  },
};

/** How the work inside a request span ends. */
const REQUESTS: Readonly<Record<string, Error | undefined>> = {
  answered: undefined,
  timed_out: new RequestTimeoutError(MESSAGE),
  failed: boom,
};

async function delivered(stage: Traced, when: string): Promise<void> {
  const [handler, policy] = HANDLERS[when] ?? [];
  if (handler === undefined) throw new Error(`nothing here makes it happen that ${when}`);
  const { mq, queue } = stage;
  await mq.consume(queue, handler, policy === undefined ? {} : { retry: policy });
  await mq.publisher({ routingKey: queue }).send({});
}

/** Each kind of span: how one comes about that ends with an outcome, and what it is then called. */
const SCENES: Readonly<Record<string, (stage: Traced, outcome: string) => Promise<string>>> = {
  '<destination> publish': async (stage, outcome) => {
    await PUBLISHES[outcome]?.(stage).catch(() => {});
    return `${stage.queue} publish`;
  },
  '<queue> process': async (stage, outcome) => {
    const { when } = CONTRACT.settlements.find((row) => row.outcome === outcome) ?? { when: 'nothing' };
    await delivered(stage, when);
    return `${stage.queue} process`;
  },
  '<destination> request': async ({ tracing }, outcome) => {
    const error = REQUESTS[outcome];
    await tracing
      .requestSpan('pricing', envelope, async () => {
        if (error !== undefined) throw error;
      })
      .catch(() => {});
    return 'pricing request';
  },
  'queue.wait': async (stage) => {
    await delivered(stage, 'the handler accepts');
    return 'queue.wait';
  },
};

const scene = (name: string): ((stage: Traced, outcome: string) => Promise<string>) => {
  const found = SCENES[name];
  if (found === undefined) throw new Error(`nothing here makes a span called ${name}`);
  return found;
};

/** One case for each outcome of each span, and one for a span without any. */
const cases = CONTRACT.spans.flatMap((definition) => {
  const outcomes = Object.keys(definition.outcomes);
  return (outcomes.length === 0 ? [''] : outcomes).map((outcome) => ({
    definition,
    name: definition.name,
    outcome,
  }));
});

describe.each(CONVENTIONS)('under the conventions %s', (conventions) => {
  test.each(cases)('$name has what the contract says after "$outcome", and no more', async (row) => {
    const { definition, name, outcome } = row;
    const stage = await traced({ conventions, queueWait: name === SPAN_QUEUE_WAIT });
    const found = await stage.span(await scene(name)(stage, outcome));
    const family = [...definition.attributes, ...(definition.byOutcome[outcome] ?? [])];
    const red = (definition.outcomes[outcome] ?? 'unset') !== 'unset';
    const extra = red && conventions !== 'acemq' ? [CONTRACT.errorType] : [];
    const { attributes } = found;
    expect(Object.keys(attributes).sort()).toEqual([...namesUnder(conventions, family), ...extra].sort());
    if (outcome !== '') expect(attributes[OUTCOME]).toBe(outcome);
    expect(found.status).toEqual(statusOf(definition.outcomes[outcome] ?? 'unset', outcome));
    expect(found.kind).toBe(KINDS[definition.kind]);
    expect(found.instrumentationScope.name).toBe(CONTRACT.scope);
  });
});

function statusOf(status: string, outcome: string): SpanStatus {
  if (status === 'unset') return { code: SpanStatusCode.UNSET };
  return { code: SpanStatusCode.ERROR, message: status === 'the outcome' ? outcome : MESSAGE };
}

test('the words that make a span red by themselves are those of the contract', () => {
  const red = CONTRACT.spans.flatMap(({ outcomes }) =>
    Object.entries(outcomes).flatMap(([outcome, status]) => (status === 'the outcome' ? [outcome] : [])),
  );
  expect([...new Set(red)].sort()).toEqual([...CONTRACT.errorOutcomes].sort());
});

describe('the parent', () => {
  const open = async (name: string, outcome: string): Promise<[ReadableSpan, string, ReadableSpan[]]> => {
    const stage = await traced({ queueWait: name === SPAN_QUEUE_WAIT });
    const current = stage.provider.getTracer('app').startSpan('current');
    const active = trace.setSpan(ROOT_CONTEXT, current);
    const called = await within(active, () => scene(name)(stage, outcome));
    const found = await stage.span(called);
    return [found, current.spanContext().spanId, stage.spans()];
  };
  const first = cases.filter(({ name }, at) => cases.findIndex((one) => one.name === name) === at);

  test.each(first)('of $name is as the contract says', async ({ definition, name, outcome }) => {
    const [found, current, spans] = await open(name, outcome);
    const publish = spans.find((one) => one.name.endsWith(' publish'))?.spanContext().spanId;
    expect(found.parentSpanContext?.spanId).toBe(definition.parent === 'current' ? current : publish);
  });
});

describe('on the span of a delivery', () => {
  test.each(CONTRACT.settlements)('$when: $outcome, $events', async ({ when, outcome, events, error }) => {
    const stage = await traced();
    await (when.includes('too old') ? aged : delivered)(stage, when);
    const found = await stage.span(`${stage.queue} process`);
    expect(found.attributes[OUTCOME]).toBe(outcome);
    expect(found.events.map(({ name }) => name)).toEqual(events);
    expect(found.status.code).toBe(error ? SpanStatusCode.ERROR : SpanStatusCode.UNSET);
    for (const { name, attributes } of found.events) {
      if (name === 'exception') continue;
      const known = CONTRACT.events.find((event) => event.name === name);
      expect(Object.keys(attributes ?? {}).sort()).toEqual([...(known?.attributes ?? [])].sort());
      // "destination.name = source queue"
      expect(attributes?.['messaging.destination.name']).toBe(stage.queue);
    }
  });

  test('every handler here is one of the contract', () => {
    expect(Object.keys(HANDLERS).sort()).toEqual(CONTRACT.settlements.map(({ when }) => when).sort());
  });
});

/** A message that was first seen long ago. */
async function aged(stage: Traced, when: string): Promise<void> {
  const [handler = accept, policy] = HANDLERS[when] ?? [];
  const { mq, queue } = stage;
  await mq.consume(queue, handler, policy === undefined ? {} : { retry: policy });
  await mq.publishRaw('', queue, {
    body: new TextEncoder().encode('{}'),
    contentType: 'application/json',
    headers: { 'x-acemq-first-seen': BigInt(Date.now() - 3_600_000) },
  });
}

describe('an event', () => {
  const written: Readonly<Record<string, (tracing: OpenTelemetryTracing) => void>> = {
    'message.retried': (tracing) => tracing.messageRetried('q', envelope, 5_000),
    'message.dead_lettered': (tracing) => tracing.messageDeadLettered('q', envelope, 'out of attempts'),
    'outbox.publish_failed': (tracing) => tracing.outboxPublishFailed('orders', 'no'),
    'pipeline.run_finished': (tracing) => tracing.pipelineRunFinished('p', 's', 'completed', 7),
  };

  test.each(CONTRACT.events)(
    '$name written by hand has $attributes, and no more',
    async ({ name, attributes }) => {
      const { mq, tracing, span } = await traced();
      await mq.tracing.span('work', {}, async () => written[name]?.(tracing));
      const { events } = await span('work');
      expect(events.map((event) => event.name)).toEqual([name]);
      expect(Object.keys(events[0]?.attributes ?? {}).sort()).toEqual([...attributes].sort());
    },
  );

  test('is one of the contract', () => {
    expect(Object.keys(written).sort()).toEqual(CONTRACT.events.map(({ name }) => name).sort());
  });
});

test('the current span takes what the contract says it may be given', async () => {
  const { mq, tracing, span } = await traced();
  await mq.tracing.span('work', {}, async () => tracing.outboxPublished('orders', 12));
  expect(Object.keys((await span('work')).attributes)).toEqual(CONTRACT.attributesOfTheCurrentSpan);
});

test('the headers are those of the contract', async () => {
  const { mq, queue } = await traced();
  const [traceparent = '', tracestate = ''] = CONTRACT.headers;
  const sent = `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`;
  const handedOn = new Promise<Record<string, string>>((resolve) => {
    void mq.consume(queue, () => {
      resolve(mq.tracing.propagationHeaders());
      return accept();
    });
  });
  await mq.publishRaw('', queue, {
    body: new TextEncoder().encode('{}'),
    contentType: 'application/json',
    headers: { [traceparent]: sent, [tracestate]: 'a=1' },
  });
  const headers = await handedOn;
  expect(Object.keys(headers).sort()).toEqual([...CONTRACT.headers].sort());
  expect(headers[traceparent]).toContain('a'.repeat(32));
  expect(headers[tracestate]).toBe('a=1');
});

test.each(Object.entries(CONTRACT.operationTypes))(
  'the operation %s has the type %s',
  async (operation, type) => {
    const { span, ...stage } = await traced({ conventions: 'both' });
    const definition = definitionOf(` ${operation}`);
    const [outcome = ''] = Object.keys(definition.outcomes);
    const { attributes } = await span(await scene(definition.name)({ span, ...stage }, outcome));
    expect(attributes).toMatchObject({
      [OPERATION]: operation,
      'messaging.operation.name': operation,
      'messaging.operation.type': type,
      'messaging.system': CONTRACT.system,
    });
  },
);

test('every attribute of a span is in the table of names', () => {
  const all = CONTRACT.spans.flatMap(({ attributes, byOutcome }) => [
    ...attributes,
    ...Object.values(byOutcome).flat(),
  ]);
  expect([...new Set(all)].sort()).toEqual([...FAMILY].sort());
});
