// Recording a message inside a transaction
export { Outbox } from './outbox.ts';
export { record } from './record.ts';
export type { OutboxMessage, OutboxRecord } from './record.ts';

// Publishing what was recorded
export { OutboxRelay } from './relay.ts';
export type { RelayConnection, RelayStore } from './relay.ts';
export type { RelayFailure, RelayOptions, RelayPhase } from './relay-options.ts';

// Where records are kept: @acemq/outbox/pg, /mysql and /sqlite have the others
export { MemoryOutboxStore, MemoryTransaction } from './memory-store.ts';
export type { MemoryOutboxOptions } from './memory-store.ts';

// What a store of one's own is written against
export { DEFAULT_MAX_BODY } from './body-limit.ts';
export { destinationHash, laneOf, LANES } from './destination-hash.ts';
export { headersFromText, headersToText } from './stored-headers.ts';
export type {
  AddOptions,
  Destination,
  Lease,
  OutboxChange,
  OutboxLedger,
  OutboxStore,
  OwedDestination,
  OwedKey,
  OwedQuery,
  OwedRecord,
  Refusal,
  Rest,
  RetiredRecord,
  WakeLine,
  Writers,
} from './store.ts';
