// Runs a function in workers of node:cluster. A worker that ends is forked again. The first process prints
// `worker <pid>` for each worker that listens, and `killed <pid>` or `crashed <pid>` once it has ended.

import cluster from 'node:cluster';

export async function runInWorkers(count, work) {
  if (!cluster.isPrimary) return work();
  const note = (...words) => void process.stdout.write(`${words.join(' ')}\n`);
  let listening = 0;
  cluster.on('listening', ({ process: { pid } }) => {
    note('worker', pid);
    listening += 1;
    if (listening === count) note('all listening');
  });
  cluster.on('exit', ({ process: { pid } }, code) => {
    note(code === null ? 'killed' : 'crashed', pid);
    cluster.fork();
  });
  for (let index = 0; index < count; index += 1) cluster.fork();
}
