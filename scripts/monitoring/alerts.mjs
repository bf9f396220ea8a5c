// The alerts. Each is explained in docs/alerts.md, in a section of its name.
import { any, growth, selectors } from './promql.mjs';

/** @typedef {import('./catalogue.mjs').Naming} Naming */
/** @typedef {import('./promql.mjs').Series} Series */

/**
 * @typedef {object} Alert
 * @property {string} name
 * @property {'warning' | 'critical'} severity critical is for what loses messages, or stands still
 * @property {string} [for] how long it must hold
 * @property {(naming: Naming) => string} expression
 * @property {string} summary
 * @property {string} description what it means and what to do first
 */

/** What tells one process of a service from another. All else that a scrape adds stays on the alert. */
const PROCESS = ['instance', 'pod', 'otel_scope_name', 'otel_scope_version'];

/**
 * A service as one, whatever its processes and these labels.
 * @param {...string} labels
 */
const service = (...labels) => `sum without (${[...PROCESS, ...labels].join(', ')})`;

/**
 * One sum of growths by another.
 * @param {Series} part
 * @param {Series} whole
 * @param {string} window
 * @param {string} how
 * @param {Naming} naming
 */
const quotient = (part, whole, window, how, naming) =>
  `${any(how, growth(part, window, naming))}\n/\n${any(how, growth(whole, window, naming))}`;

/** @type {readonly Alert[]} */
export const alerts = [
  {
    name: 'AceMQRungMissing',
    severity: 'warning',
    expression: (naming) =>
      `${any(service(), growth({ metric: 'acemq.retry.rung.missing' }, '10m', naming))} > 0`,
    summary: 'Retries of {{ $labels.queue }} wait in the process: {{ $labels.rung }} is missing',
    description:
      'A long wait for a retry is cut short by a restart while the rung is missing. Declare the queue with its retry policy, or restart the consumer with the right to declare.',
  },
  {
    name: 'AceMQSetAsideFailed',
    severity: 'critical',
    expression: (naming) =>
      `${any(service(), growth({ metric: 'acemq.messages.set.aside.failed' }, '10m', naming))} > 0`,
    summary: 'Messages of {{ $labels.queue }} cannot be placed in {{ $labels.target }}',
    description:
      'The broker refused the copy, and the message was left to its own dead-lettering: it is lost where the queue has none. Declare {{ $labels.target }}, or make room in it.',
  },
  {
    name: 'AceMQMessagesGivenUp',
    severity: 'warning',
    expression: (naming) =>
      `${any(service(), growth({ metric: 'acemq.messages.dead.lettered.total' }, '15m', naming))} > 10`,
    summary: '{{ $labels.queue }} gives up on messages: {{ $labels.outcome }}',
    description:
      '{{ $value | printf "%.0f" }} messages in 15 minutes. Read the header x-acemq-error of those in the .dlq or .parked queue, mend the cause, put them back.',
  },
  {
    name: 'AceMQAttemptsRise',
    severity: 'warning',
    for: '10m',
    expression: (naming) =>
      `${quotient(
        { metric: 'acemq.consume.attempts', part: '_sum' },
        { metric: 'acemq.consume.attempts', part: '_count' },
        '10m',
        service(),
        naming,
      )} > 1.5`,
    summary: 'Messages of {{ $labels.queue }} need several attempts',
    description:
      '{{ $value | printf "%.1f" }} attempts on average. Something that the handler depends on is failing: mend it before the attempts run out.',
  },
  {
    name: 'AceMQHandlersStuck',
    severity: 'critical',
    // For each process: one that is stuck among ten is stuck. The series must be as old as the window, since a process that
    // began a minute ago has had no time to settle anything.
    expression: (naming) => {
      const inFlight = selectors({ metric: 'acemq.consume.in.flight' }, naming);
      const busy = inFlight.map(
        (one) => `(${one} > 0 and min_over_time(${one}[10m]) > 0 and ${one} offset 10m)`,
      );
      const settled = any('sum without (outcome)', growth({ metric: 'acemq.consume.total' }, '10m', naming));
      return `${busy.join('\nor ')}\nunless\n${settled} > 0`;
    },
    summary: 'Nothing of {{ $labels.queue }} is settled on {{ $labels.instance }}',
    description:
      '{{ $value | printf "%.0f" }} messages have been in flight for 10 minutes. The handlers hang, or the broker takes no copies: read the health report for held messages, and the log, before a restart.',
  },
  {
    name: 'AceMQPublishUnroutable',
    severity: 'warning',
    expression: (naming) =>
      `${any(
        service('outcome'),
        growth({ metric: 'acemq.publish.total', where: 'outcome="unroutable"' }, '10m', naming),
      )} > 0`,
    summary: 'Messages to "{{ $labels.exchange }}" with {{ $labels.routing_key }} reach no queue',
    description:
      'The broker dropped them, and the sender was told. Add the binding that is missing, or say allowUnroutable where nobody has to listen.',
  },
  {
    name: 'AceMQPublishFails',
    severity: 'warning',
    for: '5m',
    expression: (naming) =>
      `${quotient(
        { metric: 'acemq.publish.total', where: 'outcome="failed"' },
        { metric: 'acemq.publish.total' },
        '5m',
        service('outcome', 'routing_key'),
        naming,
      )} > 0.01`,
    summary: 'Publishes to "{{ $labels.exchange }}" fail',
    description:
      '{{ $value | humanizePercentage }} were not confirmed and may be lost. The code of the error that the sender got says why.',
  },
  {
    name: 'AceMQPublishRefused',
    severity: 'warning',
    expression: (naming) =>
      `${any(
        service('exchange', 'outcome', 'routing_key'),
        growth({ metric: 'acemq.publish.total', where: 'outcome="refused"' }, '10m', naming),
      )} > 0`,
    summary: 'The broker blocks the publishing of {{ $labels.job }}',
    description:
      'It is short of memory or disk. {{ $value | printf "%.0f" }} publishes were refused before anything was written, and can be sent again. Free the broker; restarting the service does not help.',
  },
  {
    name: 'AceMQOutboxLag',
    severity: 'warning',
    for: '5m',
    expression: (naming) =>
      `${quotient(
        { metric: 'acemq.outbox.lag', part: '_sum' },
        { metric: 'acemq.outbox.lag', part: '_count' },
        '10m',
        service('outcome'),
        naming,
      )} > 60`,
    summary: 'The outbox is behind for "{{ $labels.exchange }}" with {{ $labels.routing_key }}',
    description:
      'Records leave {{ $value | humanizeDuration }} after their commit. The relay is too slow, or catches up after a stop: see that the lag falls, and add a relay if it does not.',
  },
  {
    name: 'AceMQOutboxRefused',
    severity: 'critical',
    for: '5m',
    expression: (naming) => {
      const how = service('outcome');
      const records = (/** @type {string} */ outcome) =>
        any(how, growth({ metric: 'acemq.outbox.total', where: `outcome="${outcome}"` }, '10m', naming));
      return `${records('failed')} > 0\nunless\n${records('published')} > 0`;
    },
    summary: 'No outbox record leaves for "{{ $labels.exchange }}" with {{ $labels.routing_key }}',
    description:
      'The relay tries and the broker refuses. The records are safe in the table, and wait. The log of the relay has the words of the broker: mostly an exchange, a binding or a permission that is missing.',
  },
  {
    name: 'AceMQRequestsUnanswered',
    severity: 'warning',
    for: '5m',
    expression: (naming) =>
      `${quotient(
        { metric: 'acemq.request.total', where: 'outcome!="answered"' },
        { metric: 'acemq.request.total' },
        '10m',
        service('outcome'),
        naming,
      )} > 0.05`,
    summary: 'Requests to {{ $labels.routing_key }} get no answer',
    description:
      '{{ $value | humanizePercentage }} of them timed out or could not be sent. See whether the responder runs, and how long its handler takes.',
  },
];
