export { type Reply, Requester } from './requester.ts';
export type { AskOptions, RequesterOptions } from './requester-options.ts';
export { Responder, respond } from './responder.ts';
export type { AnswerHandler, RespondOptions } from './responder-options.ts';
