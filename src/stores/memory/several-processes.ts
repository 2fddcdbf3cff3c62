import type { Warning } from '../../receiver/outcomes/report.ts';
import type { Settings } from '../../receiver/settings.ts';
import { requestsAreIsolated } from '../../receiver/timing/isolated-requests.ts';
import { propertyOf } from '../../receiver/values/foreign-values.ts';
import { advisedStores, storeFunctions } from '../list.ts';
import { isMemoryStore } from './memory.ts';

/** Warns of a memory store beside which another process needs the ids. */
export function memoryStoreWarnings({ queue, store }: Pick<Settings, 'queue' | 'store'>): Warning[] {
  if (!isMemoryStore(store)) return [];
  if (queue !== undefined) return [QUEUE_WITH_MEMORY_STORE];
  const stores = storesForSeveralProcesses();
  return stores === undefined ? [] : [memoryStoreShared(stores)];
}

function memoryStoreShared(stores: string): Warning {
  const problem = 'this process is one of several, and each handles an event once by its own memory store';
  return `memory_store_shared: ${problem}; share a store: ${stores}`;
}

/**
 * Also for a process that receives and works: its jobs outlive a restart, and the server of its queue
 * could hold the ids as well.
 */
const QUEUE_WITH_MEMORY_STORE: Warning = `memory_store_shared: the jobs of a queue outlive this process or run in another one, and a memory store serves this process alone, so an event can be handled twice; share a store between receivers and workers, such as ${adviceFor('queue')}`;

/**
 * The stores to choose from if this process is known to be one of several that do the same work; undefined if
 * it is not. A worker of `node:cluster` counts as one, even if it is the only worker: it cannot know that.
 * PM2 tells how many instances it runs, and numbers them from 0. AWS Lambda runs a process for each
 * concurrent request, and Cloudflare Workers as many isolates as it likes. Processes on other machines or in
 * other containers cannot be known.
 */
function storesForSeveralProcesses(): string | undefined {
  if (requestsAreIsolated) return adviceFor('Cloudflare Workers');
  if (process.env.AWS_LAMBDA_FUNCTION_NAME !== undefined) return adviceFor('AWS Lambda');
  return isOneOfSeveralOnThisMachine() ? adviceFor('one machine') : undefined;
}

function adviceFor(place: keyof typeof advisedStores): string {
  return advisedStores[place].map((name) => `${storeFunctions[name]} of posthorn/${name}`).join(', or ');
}

function isOneOfSeveralOnThisMachine(): boolean {
  const { pm_id: pm2Id, exec_mode: mode, instances, NODE_APP_INSTANCE: instance } = process.env;
  const isRunByPm2 = pm2Id !== undefined;
  if (Number(instance) > 0 || (isRunByPm2 && Number(instances) > 1)) return true;
  // In its cluster mode PM2 runs a single instance as a worker, too.
  if (isRunByPm2 && mode === 'cluster_mode') return false;
  // An import would load the servers and child processes of Node.js along, before the answer is needed.
  return propertyOf(process.getBuiltinModule('node:cluster'), 'isWorker') === true;
}
