import { connect } from '@acemq/amqp';
import { memoryBroker } from '@acemq/testing';
import { SILENT } from '../request/setting.ts';
import { replaySuite } from './replay-suite.ts';

replaySuite(() => connect(memoryBroker(), { logger: SILENT }));
