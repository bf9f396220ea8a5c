export { type FaultNode, startNode } from '@acemq/fault-node';
