// @ts-check
import { join } from 'node:path';
import { rolldown } from 'rolldown';

const root = join(import.meta.dirname, '../..');

/** The sources, whose private fields the simulation reads. */
export const SOURCES = join(root, 'src');

/** A private name of a class, but not a part of a text. */
const PRIVATE_NAME = /(?<![\w"'`/])#(?=[A-Za-z]\w*)/g;

/** @type {import('rolldown').Plugin} */
const openPrivateFields = {
  name: 'open-private-fields',
  transform: (code, id) => (id.startsWith(SOURCES) ? code.replace(PRIVATE_NAME, '$') : null),
};

/**
 * Bundles a program of the simulation with the sources, and returns its code. The queue of the world stands in for
 * BullMQ.
 *
 * @param {string} main
 * @param {readonly import('rolldown').Plugin[]} [plugins]
 * @returns {Promise<string>}
 */
export async function bundle(main, plugins = []) {
  const bundler = await rolldown({
    input: join(root, main),
    platform: 'node',
    external: /^node:/,
    resolve: { alias: { bullmq: join(root, 'test/simulation/walks/bullmq.ts') } },
    plugins: [...plugins, openPrivateFields],
  });
  const { output } = await bundler.generate({ format: 'esm', codeSplitting: false });
  await bundler.close();
  return output[0].code;
}
