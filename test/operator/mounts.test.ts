import { describe, test } from 'vitest';
import { mounts } from './mounts.ts';
import { sharedCases } from './shared-cases.ts';

describe.each(mounts)('%s:', (_name, mount) => {
  for (const { name, run } of sharedCases) test(name, () => run(mount));
});
