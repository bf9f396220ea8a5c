import { patternsPipelineFixtures } from './patterns-pipeline.ts';
import { patternsReplayFixtures } from './patterns-replay.ts';
import { patternsRequestFixtures } from './patterns-request.ts';

/** What requests, pipelines and replays put on the wire. */
export function patternsFixtures(): object {
  return {
    generatedBy: 'acemq-typescript',
    contract:
      'Request and reply, pipelines and routing slips, replay: the headers that they write, and what becomes of those that came.',
    request: patternsRequestFixtures(),
    pipeline: patternsPipelineFixtures(),
    replay: patternsReplayFixtures(),
  };
}
