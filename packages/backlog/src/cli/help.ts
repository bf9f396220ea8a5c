export const HELP = `acemq-backlog: how much work waits, how old it is, and how many workers it needs

  acemq-backlog watch     the three numbers of a queue, by kind, as they change
  acemq-backlog capacity  how many workers a burst needs
  acemq-backlog rules     alert rules for Prometheus

acemq-backlog COMMAND --help says more about each.
`;

export const WATCH_HELP = `acemq-backlog watch: the three numbers of a queue, by kind, as they change

A Redis stream:
  --redis URL       where it is; else REDIS_URL
  --stream S        the key of the stream
  --group G         the consumer group
  --kind-field F    the field that says the kind (kind)

A RabbitMQ queue:
  --rabbitmq URL    the management API; else RABBITMQ_MANAGEMENT_URL
  --queue Q         the queue
  --vhost V         its virtual host (/)

An outbox in PostgreSQL:
  --postgres URL    where it is; else POSTGRES_URL
  --table T         its table (acemq_outbox)

  --interval D      from one reading to the next (5s)
  --readings N      ends after N readings; without it, when it is interrupted
  --once            ends after one reading
  --limit D         how old the oldest job may be (60s)
  --json            a line of JSON for each reading, instead of the table

Give an address with a password through the environment: what stands on a
command line can be read by everybody on the machine.

In a terminal the table is drawn in place, with colours unless NO_COLOR is set.
Elsewhere each reading is printed below the one before.

Ends with 0 when the last reading was healthy, 1 when a job was older than the
limit, 2 when the backlog could not be read.
`;

export const CAPACITY_HELP = `acemq-backlog capacity: how many workers a burst needs

  --arrivals N          how many jobs come
  --over D              in how long, such as 10m
  --service-time D      how long a job takes: the P95 of its span, such as 4s
  --threads N           how many jobs a worker works at the same time
  --workers N           how many workers there are now (1)
  --acceptable-wait D   how long the last job may wait (0s)
  --json                the answer as JSON

Five renders a second, 4 s each, on workers of 8 threads:

  acemq-backlog capacity --arrivals 3000 --over 10m \\
    --service-time 4s --threads 8
`;

export const RULES_HELP = `acemq-backlog rules: alert rules for Prometheus

  --threshold D     how old the oldest job may be (60s)
  --kind K          a kind that pages; may be given more than once (all)
  --namespace N     what stands before the names of the metrics
  --label NAME=V    a constant label of the exporters; more than once
  --json            the text as JSON

  acemq-backlog rules > backlog.rules.yml
`;
