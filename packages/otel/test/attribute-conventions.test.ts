import {
  ATTR_ERROR_TYPE,
  ATTR_MESSAGING_DESTINATION_NAME,
  ATTR_MESSAGING_MESSAGE_CONVERSATION_ID,
  ATTR_MESSAGING_MESSAGE_ID,
  ATTR_MESSAGING_OPERATION_NAME,
  ATTR_MESSAGING_OPERATION_TYPE,
  ATTR_MESSAGING_RABBITMQ_DESTINATION_ROUTING_KEY,
  ATTR_MESSAGING_SYSTEM_NAME,
  ATTR_SERVER_ADDRESS,
  ATTR_SERVER_PORT,
  MESSAGING_OPERATION_TYPE_VALUE_PROCESS,
  MESSAGING_OPERATION_TYPE_VALUE_SEND,
} from '@opentelemetry/semantic-conventions/incubating';
import { expect, it } from 'vitest';
import * as ours from '../src/index.ts';
import { ATTRIBUTE_CONVENTIONS, OPERATION_TYPES } from '../src/index.ts';

it('the names of the semantic conventions are theirs, and the rest stay the family’s', () => {
  const theirs = ATTRIBUTE_CONVENTIONS.flatMap(({ otel }) => otel);
  expect(theirs.filter((name) => !name.startsWith('messaging.acemq.'))).toEqual([
    ATTR_MESSAGING_SYSTEM_NAME,
    ATTR_MESSAGING_DESTINATION_NAME,
    ATTR_MESSAGING_OPERATION_NAME,
    ATTR_MESSAGING_OPERATION_TYPE,
    ATTR_MESSAGING_MESSAGE_ID,
    ATTR_MESSAGING_MESSAGE_CONVERSATION_ID,
    ATTR_MESSAGING_RABBITMQ_DESTINATION_ROUTING_KEY,
  ]);
  for (const { acemq, otel } of ATTRIBUTE_CONVENTIONS) {
    if (acemq.startsWith('messaging.acemq.')) expect(otel).toEqual([acemq]);
  }
  expect([ours.ATTR_ERROR_TYPE, ours.ATTR_SERVER_ADDRESS, ours.ATTR_SERVER_PORT]).toEqual([
    ATTR_ERROR_TYPE,
    ATTR_SERVER_ADDRESS,
    ATTR_SERVER_PORT,
  ]);
  expect(OPERATION_TYPES).toEqual({
    publish: MESSAGING_OPERATION_TYPE_VALUE_SEND,
    process: MESSAGING_OPERATION_TYPE_VALUE_PROCESS,
    request: MESSAGING_OPERATION_TYPE_VALUE_SEND,
  });
});
