import { CompilerState, Extractor, ExtractorConfig } from '@microsoft/api-extractor';
import { entries, root } from './entries.js';

/**
 * Writes the signatures of each subpath as a report that a review can read. API Extractor prints each symbol,
 * and each member of a class or an interface, that has no doc comment.
 *
 * @param {string} folder
 * @returns {boolean} whether all is well
 */
export function writeReports(folder) {
  const configs = entries.map((entry) => configOf(entry, folder));
  const compilerState = CompilerState.create(configs[0], {
    additionalEntryPoints: entries.map(({ types }) => types),
  });
  const results = configs.map((config) =>
    Extractor.invoke(config, { compilerState, localBuild: true, messageCallback: silence }),
  );
  return results.every(({ errorCount, warningCount }) => errorCount + warningCount === 0);
}

function configOf({ page, types }, folder) {
  return ExtractorConfig.prepare({
    configObject: {
      projectFolder: root,
      mainEntryPointFilePath: types,
      compiler: { tsconfigFilePath: `${root}tools/api/tsconfig.json` },
      apiReport: {
        enabled: true,
        reportFileName: page,
        reportFolder: folder,
        reportTempFolder: folder,
        includeForgottenExports: false,
      },
      docModel: { enabled: false },
      dtsRollup: { enabled: false },
      tsdocMetadata: { enabled: false },
      newlineKind: 'lf',
      messages: {
        compilerMessageReporting: { default: { logLevel: 'error' } },
        extractorMessageReporting: {
          default: { logLevel: 'warning' },
          'ae-undocumented': { logLevel: 'warning' },
          // Everything that is exported is public.
          'ae-missing-release-tag': { logLevel: 'none' },
          // What one subpath names another one may export.
          'ae-forgotten-export': { logLevel: 'none' },
          'ae-unresolved-link': { logLevel: 'none' },
        },
        tsdocMessageReporting: { default: { logLevel: 'none' } },
      },
    },
    configObjectFullPath: undefined,
    packageJsonFullPath: `${root}package.json`,
  });
}

/** A report that is new or has changed is no problem here: a test compares it. */
function silence(message) {
  if (message.messageId.startsWith('console-')) message.handled = true;
}
