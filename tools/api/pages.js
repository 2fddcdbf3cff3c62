import { fileURLToPath } from 'node:url';
import { Application } from 'typedoc';
import { entries } from './entries.js';

/**
 * Renders a page of Markdown for each subpath. TypeDoc prints links that lead nowhere.
 *
 * @param {string} folder
 * @returns {Promise<boolean>} whether all is well
 */
export async function writePages(folder) {
  const application = await Application.bootstrapWithPlugins({
    plugin: ['typedoc-plugin-markdown'],
    tsconfig: fileURLToPath(new URL('tsconfig.json', import.meta.url)),
    entryPoints: entries.map(({ types }) => types),
    outputs: [{ name: 'markdown', path: folder }],
    router: 'module',
    readme: 'none',
    name: 'posthorn',
    logLevel: 'Warn',
    disableSources: true,
    excludeExternals: true,
    hideBreadcrumbs: true,
    hidePageHeader: true,
    useCodeBlocks: true,
    pageTitleTemplates: { index: 'Public surface', module: ({ name }) => titleOf(name) },
    validation: { notExported: false, invalidLink: true },
  });
  const project = await application.convert();
  if (project === undefined) return false;
  for (const module of project.children ?? []) module.name = pageOf(module.name);
  application.validate(project);
  await application.generateOutputs(project);
  return !application.logger.hasErrors() && !application.logger.hasWarnings();
}

/** TypeDoc names a module by its path: `adapters/node`. */
function pageOf(name) {
  const entry = entries.find(({ types }) => new RegExp(`/dist/${name}(/index)?\\.d\\.ts$`).test(types));
  return entry?.page ?? name;
}

function titleOf(name) {
  return entries.find(({ page }) => page === name)?.subpath ?? name;
}
