// Connecting.
export { connect } from './connect.ts';
export type { ConnectOptions } from './connect-options.ts';
export { type CloseReport, Connection } from './connection.ts';
export type { HealthOptions } from './health.ts';
export type { CloseOptions } from './option-checks.ts';
export { type ConnectionState, LINK_STATES, type LinkRole, type StateEvent } from './states.ts';

// Publishing.
export { Publisher } from './publishing/publisher.ts';
export type { PublisherOptions, SendOptions } from './publishing/publisher-options.ts';

// Consuming.
export { Consumer, type ConsumerCloseReport } from './consuming/consumer.ts';
export type { ConsumeOptions } from './consuming/consumer-options.ts';

// Topology, held against the broker.
export type { PlanItem, PlanReport, PlanState } from './inspection.ts';
export type { RefusedDeclaration } from './link/recorded-topology.ts';

// Payloads as bytes.
export { byContentType } from './codecs/by-content-type.ts';
export { bytesCodec } from './codecs/bytes.ts';
export { jsonCodec } from './codecs/json.ts';
export { textCodec } from './codecs/text.ts';
export type { SchemaIssue, SchemaResult, StandardSchema } from '@acemq/core';

// The transport to RabbitMQ.
export { type AmqplibOptions, amqplibTransport, type Credentials, type TlsOptions } from './amqplib/index.ts';
