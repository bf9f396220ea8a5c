/** CPU time of this process, user and system, that each of `messages` takes in `work`, in microseconds. */
export async function cpuTimePerMessage(messages: number, work: () => Promise<unknown>): Promise<number> {
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / messages;
}
