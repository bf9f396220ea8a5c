/** A value a minute from the start; null is a minute without the series. */
type Values = readonly (number | null)[];

/** One series of a case. `part` is for distributions, `instance` for a second process. */
export interface Input {
  readonly metric: string;
  readonly part?: '_sum' | '_count';
  readonly labels: Readonly<Record<string, string>>;
  readonly instance?: string;
  readonly values: Values;
}

/** What is expected of the alert at a minute: each one that fires, by its labels and the value that its text shows. */
interface Expected {
  readonly minute: number;
  readonly fires: readonly { readonly labels: Readonly<Record<string, string>>; readonly value?: string }[];
}

/** Something that happens to a service. */
export interface Case {
  readonly what: 'fires' | 'silent' | 'reset';
  readonly title: string;
  readonly series: readonly Input[];
  readonly expected: readonly Expected[];
}

const flat = (value: number, minutes: number): Values => Array.from({ length: minutes }, () => value);
const gone = (minutes: number): Values => Array.from({ length: minutes }, () => null);
const up = (from: number, each: number, minutes: number): Values =>
  Array.from({ length: minutes }, (_, minute) => from + each * minute);

type Labels = Readonly<Record<string, string>>;
const at = (minute: number, labels: Labels, value?: string): Expected => ({
  minute,
  fires: [{ labels, ...(value === undefined ? {} : { value }) }],
});
const silent = (...minutes: readonly number[]): Expected[] =>
  minutes.map((minute) => ({ minute, fires: [] }));

/** A counter of what should never happen, and is not there until it does. */
function rare(metric: string, labels: Labels, shown: Labels, window: number, value?: string): Case[] {
  const series = (values: Values): Input[] => [{ metric, labels, values }];
  return [
    {
      what: 'fires',
      title: 'with the first one ever, for as long as the window',
      series: series([...gone(5), ...flat(1, 30)]),
      expected: [...silent(4), at(5, shown, value), at(4 + window, shown, value), ...silent(6 + window)],
    },
    {
      what: 'fires',
      title: 'with another one',
      series: series([...flat(3, 20), ...flat(4, 20)]),
      expected: [...silent(19), at(22, shown, value)],
    },
    {
      what: 'fires',
      title: 'once for all processes of a service',
      series: [
        ...series([...gone(5), ...flat(1, 30)]),
        { metric, labels, instance: 'shop-2:9464', values: [...gone(5), ...flat(1, 30)] },
      ],
      expected: [at(6, shown, value === undefined ? undefined : '2')],
    },
    {
      what: 'reset',
      title: 'a restart does not fire',
      series: series([...flat(5, 20), ...flat(0, 20)]),
      expected: silent(20, 21, 25, 39),
    },
    {
      what: 'reset',
      title: 'a restart after which the counter is not there does not fire',
      series: series([...flat(5, 20), ...gone(20)]),
      expected: silent(20, 21, 30, 39),
    },
    {
      what: 'reset',
      title: 'one more after a restart fires',
      series: series([...flat(5, 20), ...gone(2), ...flat(1, 20)]),
      expected: [...silent(21), at(23, shown, value)],
    },
  ];
}

/** A share of a whole, both growing by the minute: `bad` is too much of it and `good` is not. */
function share(options: {
  readonly bad: (values: (each: number) => Values) => Input[];
  readonly good: (values: (each: number) => Values) => Input[];
  readonly labels: Labels;
  readonly value: string;
}): Case[] {
  const { bad, good, labels, value } = options;
  return [
    {
      what: 'fires',
      title: 'while it holds',
      series: bad((each) => up(0, each, 60)),
      expected: [...silent(1), at(30, labels, value)],
    },
    {
      what: 'fires',
      title: 'from the first sample of a new process on',
      series: bad((each) => [...gone(20), ...up(each, each, 40)]),
      expected: [...silent(20), at(45, labels, value)],
    },
    {
      what: 'silent',
      title: 'when all is well',
      series: good((each) => up(0, each, 60)),
      expected: silent(5, 30, 59),
    },
    {
      what: 'reset',
      title: 'a restart after which all is well does not fire',
      series: good((each) => [...up(1000 * each, each, 30), ...up(0, each, 30)]),
      expected: silent(29, 30, 31, 35, 45, 59),
    },
    {
      what: 'reset',
      title: 'a restart with nothing to do does not fire',
      series: bad((each) => [...flat(1000 * each, 30), ...flat(0, 30)]),
      expected: silent(29, 31, 40, 59),
    },
    {
      what: 'reset',
      title: 'it goes on through a restart',
      series: bad((each) => [...up(1000 * each, each, 30), ...up(0, each, 30)]),
      expected: [29, 31, 33, 40, 59].map((minute) => at(minute, labels, value)),
    },
  ];
}

const queue = { queue: 'orders' };
const destination = { exchange: 'orders-events', routing_key: 'order.placed' };

const distribution = (metric: string, labels: Labels, sum: Values, count: Values): Input[] => [
  { metric, labels, part: '_sum', values: sum },
  { metric, labels, part: '_count', values: count },
];
const outcomes = (metric: string, labels: Labels, each: Readonly<Record<string, Values>>): Input[] =>
  Object.entries(each).map(([outcome, values]) => ({ metric, labels: { ...labels, outcome }, values }));

function givenUp(): Case[] {
  const labels = { ...queue, outcome: 'parked' };
  const series = (values: Values, instance?: string): Input => ({
    metric: 'acemq.messages.dead.lettered.total',
    labels,
    values,
    ...(instance === undefined ? {} : { instance }),
  });
  return [
    {
      what: 'fires',
      title: 'when they come one by one',
      series: [series(up(0, 1, 40))],
      expected: [...silent(5), at(30, labels, '15')],
    },
    {
      what: 'fires',
      title: 'when a new process gives up on many before its first scrape',
      series: [series([...gone(5), ...flat(20, 30)])],
      expected: [at(6, labels, '20'), ...silent(25)],
    },
    {
      what: 'fires',
      title: 'when two processes do together',
      series: [series(up(0, 0.5, 40)), series(up(0, 0.4, 40), 'shop-2:9464')],
      expected: [at(30, labels, '14')],
    },
    {
      what: 'silent',
      title: 'when they are few',
      series: [series(up(0, 0.5, 40))],
      expected: silent(10, 30, 39),
    },
    {
      what: 'reset',
      title: 'a restart does not fire',
      series: [series([...flat(500, 30), ...flat(0, 30)])],
      expected: silent(29, 30, 31, 59),
    },
    {
      what: 'reset',
      title: 'it goes on through a restart',
      series: [series([...up(500, 2, 30), ...up(0, 2, 30)])],
      expected: [at(29, labels, '30'), at(33, labels, '28'), at(59, labels, '30')],
    },
  ];
}

function stuck(): Case[] {
  const inFlight = (values: Values, instance?: string): Input => ({
    metric: 'acemq.consume.in.flight',
    labels: queue,
    values,
    ...(instance === undefined ? {} : { instance }),
  });
  const settled = (values: Values, outcome = 'acked'): Input => ({
    metric: 'acemq.consume.total',
    labels: { ...queue, outcome },
    values,
  });
  const here = { ...queue, instance: 'shop-1:9464' };
  return [
    {
      what: 'fires',
      title: 'when a process has settled nothing for the window',
      series: [inFlight(flat(3, 40)), settled([...up(1, 1, 10), ...flat(10, 30)])],
      expected: [...silent(9, 15), at(22, here, '3'), at(39, here, '3')],
    },
    {
      what: 'fires',
      title: 'when it never settled any',
      series: [inFlight([...gone(5), ...flat(1, 40)])],
      expected: [...silent(6, 14), at(16, here, '1')],
    },
    {
      what: 'fires',
      title: 'for the one process that is stuck',
      series: [
        inFlight(flat(1, 40)),
        settled(flat(5, 40)),
        inFlight(flat(1, 40), 'shop-2:9464'),
        { ...settled(up(0, 1, 40)), instance: 'shop-2:9464' },
      ],
      expected: [at(30, here, '1')],
    },
    {
      what: 'silent',
      title: 'when one message is settled now and then, however it ends',
      series: [inFlight(flat(3, 60)), settled(flat(8, 60)), settled(up(0, 0.2, 60), 'retried')],
      expected: silent(12, 30, 59),
    },
    {
      what: 'silent',
      title: 'when the first one ever is settled late',
      series: [inFlight(flat(1, 30)), settled([...gone(8), ...flat(1, 22)])],
      expected: silent(9, 12, 17),
    },
    {
      what: 'silent',
      title: 'when nothing is in flight in between',
      series: [inFlight([...flat(1, 15), 0, ...flat(1, 9)])],
      expected: silent(16, 20, 24),
    },
    {
      what: 'silent',
      title: 'for a process that has ended',
      series: [inFlight([...flat(1, 30), ...gone(20)]), settled([...up(0, 1, 30), ...gone(20)])],
      expected: silent(29, 36, 39, 45),
    },
    {
      what: 'reset',
      title: 'a busy process that starts again does not fire',
      series: [inFlight(flat(2, 60)), settled([...up(500, 1, 30), ...up(0, 1, 30)])],
      expected: silent(29, 30, 31, 35, 59),
    },
    {
      what: 'reset',
      title: 'one that is stuck goes on to fire when its counters are gone',
      series: [inFlight(flat(2, 60)), settled([...flat(500, 30), ...gone(30)])],
      expected: [at(29, here, '2'), at(31, here, '2'), at(59, here, '2')],
    },
    {
      what: 'reset',
      title: 'one that is stuck goes on to fire when its counters are zero',
      series: [inFlight(flat(2, 60)), settled([...flat(500, 30), ...flat(0, 30)])],
      expected: [at(29, here, '2'), at(31, here, '2'), at(59, here, '2')],
    },
  ];
}

function outboxRefused(): Case[] {
  const records = (each: Readonly<Record<string, Values>>): Input[] =>
    outcomes('acemq.outbox.total', destination, each);
  return [
    {
      what: 'fires',
      title: 'when none was ever published',
      series: records({ failed: [...gone(10), ...up(1, 1, 30)] }),
      expected: [...silent(9, 12), at(16, destination)],
    },
    {
      what: 'fires',
      title: 'when publishing stands still',
      series: records({ failed: up(0, 1, 60), published: [...up(0, 5, 20), ...flat(95, 40)] }),
      expected: [...silent(19, 29), at(40, destination), at(59, destination)],
    },
    {
      what: 'silent',
      title: 'when others of the destination are published',
      series: records({ failed: up(0, 1, 60), published: up(0, 1, 60) }),
      expected: silent(10, 30, 59),
    },
    {
      what: 'silent',
      title: 'when all that failed was published in the end',
      series: records({ failed: [...gone(10), ...flat(3, 40)], published: [...gone(13), ...flat(3, 37)] }),
      expected: silent(12, 15, 30),
    },
    {
      what: 'reset',
      title: 'a restart does not fire',
      series: records({
        failed: [...flat(30, 30), ...flat(0, 30)],
        published: [...up(900, 5, 30), ...up(0, 5, 30)],
      }),
      expected: silent(29, 30, 31, 45, 59),
    },
    {
      what: 'reset',
      title: 'a restart of a relay with nothing to do does not fire',
      series: records({
        failed: [...flat(30, 30), ...gone(30)],
        published: [...flat(900, 30), ...gone(30)],
      }),
      expected: silent(29, 31, 36, 59),
    },
    {
      what: 'reset',
      title: 'it goes on through a restart',
      series: records({
        failed: [...up(30, 1, 30), ...up(0, 1, 30)],
        published: [...flat(900, 30), ...flat(0, 30)],
      }),
      expected: [29, 31, 36, 59].map((minute) => at(minute, destination)),
    },
  ];
}

/** What is tried of each alert, besides a service that does nothing and one that is not there. */
export const CASES: Readonly<Record<string, readonly Case[]>> = {
  AceMQRungMissing: rare(
    'acemq.retry.rung.missing',
    { ...queue, rung: 'orders.retry.40s' },
    { ...queue, rung: 'orders.retry.40s' },
    10,
  ),
  AceMQSetAsideFailed: rare(
    'acemq.messages.set.aside.failed',
    { ...queue, target: 'orders.dlq' },
    { ...queue, target: 'orders.dlq' },
    10,
  ),
  AceMQMessagesGivenUp: givenUp(),
  AceMQAttemptsRise: share({
    bad: (values) => distribution('acemq.consume.attempts', queue, values(4), values(2)),
    good: (values) => distribution('acemq.consume.attempts', queue, values(6), values(5)),
    labels: queue,
    value: '2.0',
  }),
  AceMQHandlersStuck: stuck(),
  AceMQPublishUnroutable: rare(
    'acemq.publish.total',
    { ...destination, outcome: 'unroutable' },
    destination,
    10,
  ),
  AceMQPublishFails: share({
    bad: (values) =>
      outcomes('acemq.publish.total', destination, { failed: values(1), confirmed: values(9) }),
    good: (values) =>
      outcomes('acemq.publish.total', destination, { failed: values(1), confirmed: values(199) }),
    labels: { exchange: 'orders-events' },
    value: '10%',
  }),
  AceMQPublishRefused: rare('acemq.publish.total', { ...destination, outcome: 'refused' }, {}, 10, '1'),
  AceMQOutboxLag: share({
    bad: (values) =>
      distribution('acemq.outbox.lag', { ...destination, outcome: 'published' }, values(240), values(2)),
    good: (values) =>
      distribution('acemq.outbox.lag', { ...destination, outcome: 'published' }, values(4), values(2)),
    labels: destination,
    value: '2m 0s',
  }),
  AceMQOutboxRefused: outboxRefused(),
  AceMQRequestsUnanswered: share({
    bad: (values) =>
      outcomes(
        'acemq.request.total',
        { routing_key: 'pricing' },
        { timed_out: values(1), answered: values(4) },
      ),
    good: (values) =>
      outcomes(
        'acemq.request.total',
        { routing_key: 'pricing' },
        { failed: values(1), answered: values(99) },
      ),
    labels: { routing_key: 'pricing' },
    value: '20%',
  }),
};

/** The same series when nothing happens: counters stand still, and nothing is in flight. */
export function idle(cases: readonly Case[]): Case {
  const [first] = cases;
  const series = (first?.series ?? []).map((one) => ({
    ...one,
    values: flat(one.metric === 'acemq.consume.in.flight' ? 0 : 700, 60),
  }));
  return { what: 'silent', title: 'a service that does nothing', series, expected: silent(30, 45, 59) };
}

/** A service that has not written any of them. */
export const ABSENT: Case = {
  what: 'silent',
  title: 'a service that has no such series',
  series: [],
  expected: silent(0, 30, 59),
};
