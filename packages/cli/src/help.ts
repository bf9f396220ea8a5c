export const HELP: string = `acemq: dead letters on the command line

  acemq dlq list QUEUE      what lies in a dead-letter queue, and why
  acemq dlq show QUEUE ID   everything about one message
  acemq dlq replay QUEUE    puts messages back to work
  acemq dlq purge QUEUE     removes messages for good
  acemq replay QUEUE        the same as acemq dlq replay

QUEUE is the queue whose dead letters are meant: orders for orders.dlq.

acemq COMMAND --help says more about each.
`;

const WHICH = `Which queue:
  QUEUE             orders, for orders.dlq; or the whole name, orders.dlq
  --parked          orders.parked instead
  --exact           QUEUE is the whole name, however it ends
  --url URL         the broker; else AMQP_URL, else amqp://localhost
`;

const FILTERS = `Which messages (all of what is given must hold):
  --reason TEXT     the reason contains TEXT, in capitals or not
  --type T          of this type
  --id ID           with this id
  --older-than D    first published longer ago than D, such as 1h
  --newer-than D    first published less long ago than D
  --attempts N      given up after N attempts
`;

const PASSWORD = `Give an address with a password through AMQP_URL: what stands on a command
line can be read by everybody on the machine.
`;

const HELD = `To look, messages are taken out, held until the end and put back. In a quorum
queue that spends a delivery of each, and its place; a .dlq is a classic queue,
where each comes back to its place.
`;

export const LIST_HELP: string = `acemq dlq list: what lies in a dead-letter queue, and why

${WHICH}
${FILTERS}
  --limit N         how many are read, the oldest first (20); all for all
  --json            a line of JSON for each message

${HELD}
${PASSWORD}
Ends with 0, with 1 when nothing matched, 2 when the command is wrong, 3 when
the broker cannot be reached or refused, 130 when it was interrupted.
`;

export const SHOW_HELP: string = `acemq dlq show: everything about one message

  acemq dlq show QUEUE ID      the message with this id, or one that begins so
  acemq dlq show QUEUE --first the oldest message

${WHICH}
  --json            as JSON; the body as text, or in base64 where it is none

${HELD}
${PASSWORD}
Ends as list does.
`;

export const REPLAY_HELP: string = `acemq dlq replay: puts messages back to work

${WHICH}
Where to (the queue itself, orders for orders.dlq, unless it is said):
  --to QUEUE        another queue
  --exchange E      an exchange, with --key K or each message's own key
  --key K

${FILTERS}
  --limit N         how many at most
  --rate N          messages a second, so that nobody is buried
  --window N        copies under way at once: what a kill may double (10)
  --keep-attempts   attempts and reason stay as they are; else they begin anew
  --dry-run         moves nothing, and says what would be moved
  --quiet           no progress
  --json            the report as JSON

A message is published and confirmed before it leaves the dead-letter queue.
What fails again at once is left there.

${PASSWORD}
Ends with 0 when all that matched was moved, 1 when nothing matched or some was
left, 2 when the command is wrong, 3 when the broker cannot be reached or
refused, 130 when it was interrupted: what was moved stays moved.
`;

export const PURGE_HELP: string = `acemq dlq purge: removes messages for good

${WHICH}
${FILTERS}
  --limit N         how many at most
  --yes             without asking; needed where there is no terminal to ask on
  --quiet           no progress
  --json            the report as JSON

${PASSWORD}
Ends with 0, with 1 when nothing matched or the answer was no, and as replay
does otherwise.
`;
