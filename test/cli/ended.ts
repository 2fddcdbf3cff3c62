/** How a command ends that prints nothing but why it refuses, for `toEqual`. */
export function refusal(code: number, stderr: unknown): { code: number; stdout: string; stderr: unknown } {
  return { code, stdout: '', stderr };
}

/** How a command ends that has nothing to complain about, for `toEqual`. */
export function printed(stdout: unknown): { code: number; stdout: unknown; stderr: string } {
  return { code: 0, stdout, stderr: '' };
}
