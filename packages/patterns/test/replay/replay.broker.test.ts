import { connect } from '@acemq/amqp';
import { SILENT } from '../request/setting.ts';
import { replaySuite } from './replay-suite.ts';

replaySuite(() => connect(process.env['AMQP_URL'] ?? '', { name: 'replay-test', logger: SILENT }));
