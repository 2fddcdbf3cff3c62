import { test } from 'vitest';
import { casesOf } from '../../src/testing/adapter-conformance/case.ts';
import type { CaseWithoutId } from '../../src/testing/conformance-case.ts';
import { expectations, garbage, hangUpsInPipelines, pipelines } from './connections.ts';
import type { Mount } from './endpoint.ts';
import { casesFor, type OurAdapter } from './our-adapters.ts';
import { rejections } from './rejections.ts';
import { unreadRests } from './unread-rests.ts';

/** What every adapter must do, over a real socket, and what ours do besides. */
export function conformance(adapter: OurAdapter): void {
  for (const { name, run } of [...casesFor(adapter), ...ownCases(adapter.mount)]) test(name, run);
}

/** What our adapters, with the servers that they are mounted on, do besides. */
export function ownCases(mount: Mount, { wholeBodiesOnly = false } = {}): CaseWithoutId[] {
  const connections = [unreadRests, expectations, pipelines, hangUpsInPipelines, garbage];
  const groups = wholeBodiesOnly ? [rejections] : [rejections, ...connections];
  const platform = {
    serve: mount,
    serveReadBody: undefined,
    servePath: undefined,
    foldsRepeatedHeaders: false,
    wholeBodiesOnly,
    hidesConnections: wholeBodiesOnly,
  };
  return groups.flatMap((group) => casesOf(group, platform));
}
