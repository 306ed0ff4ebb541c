// The load that k6.py asks for; requests that are under way at the end are dropped, as those of other drivers are.
import http from 'k6/http';

const said = __ENV;
const clients = Number(said.CLIENTS);
const closed = { executor: 'constant-vus', vus: clients };
const open = {
  executor: 'constant-arrival-rate', rate: Number(said.RATE), timeUnit: '1s', preAllocatedVUs: clients, maxVUs: clients,
};

export const options = {
  discardResponseBodies: true,
  scenarios: { steady: { ...(said.LOOP === 'open' ? open : closed), duration: said.DURATION, gracefulStop: '0s' } },
};

export default function () {
  http.get(said.URL, { timeout: said.TIMEOUT, redirects: 0 });
}

export function handleSummary(data) {
  return { stdout: JSON.stringify(data) };
}
