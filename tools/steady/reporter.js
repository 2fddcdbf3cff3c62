// @ts-check
// A reporter of Vitest for ./run.js: writes what failed, errors outside of tests included, which the reporter
// `json` leaves out.

import { writeFileSync } from 'node:fs';
import { relative } from 'node:path';

/** @typedef {{ readonly file: string, readonly test: string, readonly message: string }} Failure */

/** The first line of a message. */
function firstLine(/** @type {{ readonly message?: string } | undefined} */ error) {
  return (error?.message ?? 'an error without a message').split('\n')[0] ?? '';
}

/** @type {import('vitest/reporters').Reporter} */
const reporter = {
  onTestRunEnd(modules, unhandledErrors) {
    let passed = 0;
    /** @type {Failure[]} */
    const failures = [];
    for (const module of modules) {
      const file = module.relativeModuleId;
      for (const test of module.children.allTests()) {
        const { state, errors } = test.result();
        if (state === 'passed') passed += 1;
        if (state === 'failed') failures.push({ file, test: test.fullName, message: firstLine(errors?.[0]) });
      }
      const errors = [
        ...module.errors(),
        ...Array.from(module.children.allSuites(), (suite) => suite.errors()).flat(),
      ];
      for (const error of errors)
        failures.push({ file, test: '(outside of its tests)', message: firstLine(error) });
    }
    for (const error of unhandledErrors) {
      const { VITEST_TEST_PATH: path, VITEST_TEST_NAME: name = '' } = error;
      const file = typeof path === 'string' ? relative(process.cwd(), path) : '(outside of all files)';
      const during = name === '' ? '' : ` during or after: ${name}`;
      failures.push({ file, test: `(unhandled error${during})`, message: firstLine(error) });
    }
    writeFileSync(process.env.STEADY_REPORT ?? 'steady-report.json', JSON.stringify({ passed, failures }));
  },
};

export default class SteadyReporter {
  onTestRunEnd = reporter.onTestRunEnd;
}
