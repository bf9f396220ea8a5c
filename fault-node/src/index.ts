// A broker of one's own
export { startNode } from './node.ts';

export type { FaultNode, NodePermissions } from './node.ts';
export type { NodeConfiguration } from './node-files.ts';

// What its process takes
export { rssMb } from './node.ts';
