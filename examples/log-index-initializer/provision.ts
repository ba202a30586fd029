/** The work itself, which knows nothing of Kubernetes. Doing it again does no harm: both steps say what shall be. */

/** The log system will not have it, however often it is asked. */
export class Refused extends Error {}

export async function provisionIndex(
  serviceUrl: string,
  namespace: string,
  signal: AbortSignal,
  say: (step: string) => void,
): Promise<void> {
  const put = async (path: string, body: object): Promise<void> => {
    const answer = await fetch(`${serviceUrl}${path}`, { method: 'PUT', body: JSON.stringify(body), signal })
    if (answer.ok) return
    const problem = `the log system answered ${answer.status} to PUT ${path}`
    throw answer.status < 500 && answer.status !== 429 ? new Refused(problem) : new Error(problem)
  }
  const index = `/indexes/logs-${namespace}`
  say(`creating index logs-${namespace} (1 of 2)`)
  await put(index, {})
  say(`setting its retention (2 of 2)`)
  await put(`${index}/retention`, { days: 30 })
}
