// A broker in this process
export { memoryBroker } from './memory-broker.ts';

// A network that fails on purpose
export { faultProxy } from './fault-proxy/fault-proxy.ts';

// Time that a test moves
export { manualClock } from './manual-clock.ts';

// What every transport must do
export { transportSuite } from './transport-suite.ts';

export type { Access } from './broker.ts';
export type {
  CutOptions,
  FaultConnection,
  FaultControls,
  FaultCounts,
  FaultDirection,
  FaultProxy,
  FaultProxyOptions,
} from './fault-proxy/controls.ts';
export type { ManualClock, ManualClockOptions } from './manual-clock.ts';
export type {
  BindingInfo,
  DialRefusal,
  ExchangeInfo,
  LinkChoice,
  LinkInfo,
  MemoryBroker,
  MemoryBrokerOptions,
  QueueInfo,
  WaitingMessage,
} from './controls.ts';
export type { QueueType } from './queue-arguments.ts';
export type { TransportFaults, TransportFeature } from './suite/stage.ts';
export type { TransportHarness, TransportSuiteOptions } from './transport-suite.ts';
