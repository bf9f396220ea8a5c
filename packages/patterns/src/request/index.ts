// The side that asks.

// What is visible on the wire, as functions that ask nobody.
export { answeredBy } from './matching.ts';
export { type Addressed, replyAddressOf } from './reply-address.ts';
export { failureOf, failureText } from './reply-failure.ts';
export { generatedReplyQueue, replyQueuePlan } from './reply-queue.ts';
export { type Reply, Requester } from './requester.ts';
export type { AskOptions, RequesterOptions } from './requester-options.ts';
// The side that answers.
export { Responder, respond } from './responder.ts';
export type { AnswerHandler, RespondOptions } from './responder-options.ts';
export { type AskedFields, replyFields, requestFields, type WireFields } from './wire-fields.ts';
