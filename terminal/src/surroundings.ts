/** What of a process a program of the command line uses. */
export interface Surroundings {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly stdout: {
    write(text: string): unknown;
    readonly isTTY?: boolean;
    readonly columns?: number;
    readonly rows?: number;
  };
  readonly stderr: { write(text: string): unknown; readonly isTTY?: boolean };
  once(event: 'SIGINT' | 'SIGTERM', listener: () => void): unknown;
}
