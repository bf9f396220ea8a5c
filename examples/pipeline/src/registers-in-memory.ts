import type { Applicant, Customer, Registers } from './onboarding.ts';

const CITIES: Readonly<Record<string, string>> = { Vaduz: 'LI', Graz: 'AT', Basel: 'CH', Turku: 'FI' };

/** Applicants of every fate: one in ten has no address, and one in nine lives where no register knows the city. */
export function applicants(count: number): Applicant[] {
  const cities = Object.keys(CITIES);
  return Array.from({ length: count }, (_, index) => ({
    name: `applicant-${index}`,
    email: index % 10 === 0 ? 'none' : `applicant-${index}@example.com`,
    city: index % 9 === 4 ? 'Atlantis' : (cities[index % cities.length] ?? ''),
  }));
}

/** Registers that are gone with the process. That of the cities is busy when it is first asked for one applicant in ten. */
export class RegistersInMemory implements Registers {
  readonly stored: Map<string, Customer> = new Map();
  readonly ended: Set<string> = new Set();
  readonly #asked = new Set<string>();

  async countryOf({ name, city }: Applicant): Promise<string> {
    const isFirst = !this.#asked.has(name);
    this.#asked.add(name);
    if (isFirst && /3$/.test(name)) throw new Error('the register of cities is busy');
    const country = CITIES[city];
    if (country === undefined) throw new Error(`the register of cities has no ${city}`);
    return country;
  }

  store(runId: string, customer: Customer): void {
    this.stored.set(runId, customer);
  }

  declined(runId: string): void {
    this.ended.add(runId);
  }
}
