import { fileURLToPath } from 'node:url';

/**
 * The path of the file of a picture.
 *
 * @param {string} name
 */
export function pathOf(name) {
  return fileURLToPath(new URL(`../../docs/images/${name}.png`, import.meta.url));
}
