/** The promise of dead letters that writes thousands of them: it runs with the storms. */
export const LONG_CASE = 'more letters of one moment than a millisecond has microseconds are all listed';
