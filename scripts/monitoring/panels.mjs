// What the dashboard shows, row by row. How Grafana wants it said is in dashboard.mjs.
import { any, growth, rate, selectors } from './promql.mjs';

/** @typedef {import('./catalogue.mjs').Naming} Naming */
/** @typedef {import('./promql.mjs').Series} Series */

/**
 * @typedef {object} Panel
 * @property {string} title
 * @property {string} description what the number means
 * @property {string} unit as Grafana names it
 * @property {string} legend
 * @property {(naming: Naming) => string} expression
 * @property {'timeseries' | 'stat'} [kind] `timeseries` by default; `stat` is one number for the whole time that is shown
 * @property {{ warning: number, critical?: number }} [thresholds]
 * @property {boolean} [stacked]
 * @property {boolean} [counts] whole numbers, drawn as bars: what happened in each interval
 */

/** @typedef {{ title: string, panels: readonly Panel[] }} Row */

/** What every selector asks for: the variables at the top of the dashboard. */
const HERE = 'namespace=~"$namespace",job=~"$job"';
const OF_QUEUE = `${HERE},queue=~"$queue"`;
const INTERVAL = '$__rate_interval';
const RANGE = '$__range';

/**
 * By the second, as sums for these labels.
 * @param {Series} series
 * @param {string} labels
 * @returns {(naming: Naming) => string}
 */
const perSecond = (series, labels) => (naming) =>
  any(`sum by (${labels})`, rate({ where: HERE, ...series }, INTERVAL, naming));

/**
 * What one sample of a distribution was on average.
 * @param {string} metric
 * @param {string} labels
 * @param {string} [where]
 * @returns {(naming: Naming) => string}
 */
const mean =
  (metric, labels, where = HERE) =>
  (naming) => {
    const total = (/** @type {'_sum' | '_count'} */ part) =>
      any(`sum by (${labels})`, rate({ metric, part, where }, INTERVAL, naming));
    return `${total('_sum')}\n/\n${total('_count')}`;
  };

/**
 * How many in each interval: for what is rare, so that the first one is seen too.
 * @param {Series} series
 * @param {string} labels
 * @param {string} [window]
 * @returns {(naming: Naming) => string}
 */
const howMany =
  (series, labels, window = INTERVAL) =>
  (naming) =>
    any(labels === '' ? 'sum' : `sum by (${labels})`, growth(series, window, naming));

/** @type {readonly Row[]} */
export const rows = [
  {
    title: 'In the time shown',
    panels: [
      {
        title: 'Messages given up',
        description: 'Dead-lettered or parked. Somebody has to look at each of them.',
        unit: 'short',
        kind: 'stat',
        legend: '',
        thresholds: { warning: 1, critical: 10 },
        expression: howMany({ metric: 'acemq.messages.dead.lettered.total', where: OF_QUEUE }, '', RANGE),
      },
      {
        title: 'Rungs missing',
        description: 'Retries that wait in the process, where a restart cuts the wait short. Should be none.',
        unit: 'short',
        kind: 'stat',
        legend: '',
        thresholds: { warning: 1 },
        expression: howMany({ metric: 'acemq.retry.rung.missing', where: OF_QUEUE }, '', RANGE),
      },
      {
        title: 'Not set aside',
        description:
          'Messages whose copy the .dlq or .parked queue did not take. Should be none: they may be lost.',
        unit: 'short',
        kind: 'stat',
        legend: '',
        thresholds: { warning: 1, critical: 1 },
        expression: howMany({ metric: 'acemq.messages.set.aside.failed', where: OF_QUEUE }, '', RANGE),
      },
      {
        title: 'Publishes not confirmed',
        description: 'Unroutable, failed or refused, all together.',
        unit: 'short',
        kind: 'stat',
        legend: '',
        thresholds: { warning: 1, critical: 100 },
        expression: howMany(
          { metric: 'acemq.publish.total', where: `${HERE},outcome!="confirmed"` },
          '',
          RANGE,
        ),
      },
    ],
  },
  {
    title: 'Publishing',
    panels: [
      {
        title: 'Publishes by outcome',
        description:
          'confirmed: the broker took it. unroutable: it reached no queue. failed: not confirmed, and perhaps lost. refused: the broker blocks, and nothing was written. What an outbox relays is not here.',
        unit: 'mps',
        stacked: true,
        legend: '{{outcome}}',
        expression: perSecond({ metric: 'acemq.publish.total' }, 'outcome'),
      },
      {
        title: 'Mean time of a publish',
        description:
          "From the call to the broker's answer: interceptors, encoding and the wait for a permit included.",
        unit: 's',
        thresholds: { warning: 1, critical: 10 },
        legend: '{{exchange}} {{outcome}}',
        expression: mean('acemq.publish.duration', 'exchange, outcome'),
      },
      {
        title: 'Publishes not confirmed, by destination',
        description: 'How many in each interval. A single one counts: with unroutable a binding is missing.',
        unit: 'short',
        counts: true,
        thresholds: { warning: 1 },
        legend: '{{exchange}} {{routing_key}}: {{outcome}}',
        expression: howMany(
          { metric: 'acemq.publish.total', where: `${HERE},outcome!="confirmed"` },
          'exchange, routing_key, outcome',
        ),
      },
    ],
  },
  {
    title: 'Consuming',
    panels: [
      {
        title: 'Deliveries by queue and outcome',
        description: 'What was decided about each delivery. All outcomes together are the arrivals.',
        unit: 'mps',
        stacked: true,
        legend: '{{queue}}: {{outcome}}',
        expression: perSecond({ metric: 'acemq.consume.total', where: OF_QUEUE }, 'queue, outcome'),
      },
      {
        title: 'Mean time of a handler',
        description: 'Interceptors and handler, without decoding or a wait for a retry.',
        unit: 's',
        thresholds: { warning: 10, critical: 60 },
        legend: '{{queue}}: {{outcome}}',
        expression: mean('acemq.consume.duration', 'queue, outcome', OF_QUEUE),
      },
      {
        title: 'In flight',
        description:
          'Messages that are handled, wait in the process for a retry, or are held. At the prefetch for long: the handlers are too slow, or stuck.',
        unit: 'short',
        legend: '{{queue}}',
        expression: (naming) =>
          any('sum by (queue)', selectors({ metric: 'acemq.consume.in.flight', where: OF_QUEUE }, naming)),
      },
      {
        title: 'Attempts on average',
        description:
          'Attempts, not seconds: 1 is a message that worked the first time. The earliest sign of a dependency in trouble; dead letters come only when the attempts run out.',
        unit: 'short',
        thresholds: { warning: 1.5, critical: 3 },
        legend: '{{queue}}',
        expression: mean('acemq.consume.attempts', 'queue', OF_QUEUE),
      },
    ],
  },
  {
    title: 'Retries and dead letters',
    panels: [
      {
        title: 'Retries by where they wait',
        description:
          'broker: in a rung. consumer: in the process. requeued: could not be published, and was given back unchanged.',
        unit: 'mps',
        legend: '{{queue}}: {{where}}',
        expression: perSecond({ metric: 'acemq.messages.retried.total', where: OF_QUEUE }, 'queue, where'),
      },
      {
        title: 'Messages given up',
        description:
          'How many in each interval. dead_lettered: rejected, fatal, too old, or out of attempts. parked: unreadable, or parked by a handler.',
        unit: 'short',
        counts: true,
        thresholds: { warning: 10 },
        legend: '{{queue}}: {{outcome}}',
        expression: howMany(
          { metric: 'acemq.messages.dead.lettered.total', where: OF_QUEUE },
          'queue, outcome',
        ),
      },
      {
        title: 'Rungs missing',
        description: 'Retries that found no rung and wait in the process. Declare the queue with its policy.',
        unit: 'short',
        counts: true,
        thresholds: { warning: 1 },
        legend: '{{queue}}: {{rung}}',
        expression: howMany({ metric: 'acemq.retry.rung.missing', where: OF_QUEUE }, 'queue, rung'),
      },
      {
        title: 'Not set aside',
        description:
          'Messages whose copy the broker refused. They are lost where the queue has no dead-letter exchange.',
        unit: 'short',
        counts: true,
        thresholds: { warning: 1, critical: 1 },
        legend: '{{queue}}: {{target}}',
        expression: howMany({ metric: 'acemq.messages.set.aside.failed', where: OF_QUEUE }, 'queue, target'),
      },
    ],
  },
  {
    title: 'Requests',
    panels: [
      {
        title: 'Requests by outcome',
        description: 'For the caller. answered: any reply, an error of the responder included.',
        unit: 'reqps',
        stacked: true,
        legend: '{{routing_key}}: {{outcome}}',
        expression: perSecond({ metric: 'acemq.request.total' }, 'routing_key, outcome'),
      },
      {
        title: 'Mean time of a request',
        description: 'To the reply, or to the end of the wait for one.',
        unit: 's',
        thresholds: { warning: 1, critical: 10 },
        legend: '{{routing_key}}: {{outcome}}',
        expression: mean('acemq.request.duration', 'routing_key, outcome'),
      },
    ],
  },
  {
    title: 'Outbox',
    panels: [
      {
        title: 'Outbox records by outcome',
        description:
          'published at zero with failed rising: the broker refuses. Both at zero: nothing to send, or no relay runs. The table tells which.',
        unit: 'recps',
        stacked: true,
        legend: '{{exchange}} {{routing_key}}: {{outcome}}',
        expression: perSecond({ metric: 'acemq.outbox.total' }, 'exchange, routing_key, outcome'),
      },
      {
        title: 'Mean lag of the outbox',
        description:
          'From the commit of a record to its publish. A relay that has stopped records none: the line ends, and does not climb.',
        unit: 's',
        thresholds: { warning: 10, critical: 60 },
        legend: '{{exchange}} {{routing_key}}',
        expression: mean('acemq.outbox.lag', 'exchange, routing_key'),
      },
    ],
  },
  {
    title: 'Pipelines',
    panels: [
      {
        title: 'Runs that ended',
        description:
          'By the step that ended them. ended_early: a step stopped the run with stops still to go.',
        unit: 'ops',
        stacked: true,
        legend: '{{pipeline}} {{step}}: {{outcome}}',
        expression: perSecond({ metric: 'acemq.pipeline.run.total' }, 'pipeline, step, outcome'),
      },
      {
        title: 'Mean age of a run at its end',
        description: 'From the first publish of its message, waits in queues and retries included.',
        unit: 's',
        thresholds: { warning: 60, critical: 600 },
        legend: '{{pipeline}}',
        expression: mean('acemq.pipeline.run.duration', 'pipeline'),
      },
    ],
  },
];
