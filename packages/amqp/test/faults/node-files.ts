export type { NodeConfiguration } from '@acemq/fault-node';
