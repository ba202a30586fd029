/** Attacks that only a browser can carry out: a page of another origin in the browser that was let in. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type ConsoleWorld, noBrowser, startBrowser, startConsoleWorld, visit } from '../support/console-world.ts'

const namespaces = { group: '', version: 'v1', resource: 'namespaces' }

/** Another program on this machine, at another port: the same site to the browser, another origin. */
async function startOther() {
  const cookies: string[] = []
  const server = createServer((request, response) => {
    cookies.push(request.headers.cookie ?? '')
    response.writeHead(200, { 'content-type': 'text/html' }).end('<!doctype html><title>other</title>')
  })
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve)
  })
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    cookies,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

describe.skipIf(noBrowser !== undefined)(
  `a page of another origin${noBrowser === undefined ? '' : ` (skipped: ${noBrowser})`}`,
  () => {
    let world: ConsoleWorld
    let browser: Browser

    beforeAll(async () => {
      ;[world, browser] = await Promise.all([startConsoleWorld(), startBrowser()])
    })
    afterAll(async () => {
      await browser?.close()
      await world?.[Symbol.asyncDispose]()
    })

    test('reads nothing, writes nothing, frames nothing, and what it is sent opens nothing', async () => {
      await using other = await startOther()
      const served = await world.consoleFor('root', ['system:masters'])
      const { context, page } = await visit(browser, served.address)
      await page.getByRole('link', { name: 'kube-system' }).waitFor()
      const evil = await context.newPage()
      await evil.goto(other.origin)
      const target = JSON.stringify(`${served.origin}/api/v1/namespaces`)
      const headers = `{ 'x-borough-console': 'guess', 'content-type': 'application/json' }`
      const outcomes = await evil.evaluate(`Promise.all([
        fetch(${target}, { credentials: 'include' }),
        fetch(${target}, { credentials: 'include', headers: ${headers} }),
        fetch(${target}, { method: 'POST', credentials: 'include', headers: ${headers}, body: '{}' }),
      ].map((sent) => sent.then(() => 'read', () => 'refused')))`)
      expect(outcomes).toEqual(['refused', 'refused', 'refused'])

      // What needs no permission of the other origin: it is sent, and refused there.
      const blind = await evil.evaluate(`fetch(${target}, {
        method: 'POST', mode: 'no-cors', credentials: 'include', body: '{"metadata":{"name":"forged"}}',
      }).then(() => 'read', () => 'refused')`)
      expect(blind).toBe('refused')
      await expect(world.plane.client.get(namespaces, { name: 'forged' })).rejects.toThrow('not found')

      await evil.evaluate(`new Promise((resolve) => {
        const frame = document.createElement('iframe')
        frame.src = ${JSON.stringify(served.origin)}
        frame.onload = resolve
        document.body.append(frame)
      })`)
      const framed = evil.frames().find((frame) => frame !== evil.mainFrame())
      expect(await framed?.locator('.top').count()).toBe(0)

      // The browser sends the cookie to every port. With it alone the other program reaches nothing.
      const [stolen = ''] = other.cookies
      expect(stolen).toContain('borough-console-')
      const answer = await fetch(`${served.origin}/api/v1/namespaces`, { headers: { cookie: stolen } })
      expect(answer.status).toBe(401)
      await context.close()
    })

    test('opens no stream or socket, sends no form or beacon, embeds nothing, and keeps no window', async () => {
      await using other = await startOther()
      const served = await world.consoleFor('root', ['system:masters'])
      const { context, page } = await visit(browser, served.address)
      await page.getByRole('link', { name: 'kube-system' }).waitFor()
      const evil = await context.newPage()
      await evil.goto(other.origin)
      const asked: { readonly path: string; readonly status: number }[] = []
      evil.on('response', (response) => {
        const url = new URL(response.url())
        if (url.origin === served.origin) asked.push({ path: url.pathname, status: response.status() })
      })
      const api = `${served.origin}/api/v1/namespaces`
      const outcome = (text: string): Promise<string> => evil.evaluate<string>(`new Promise((resolve) => { ${text} })`)
      const ends = `x.onopen = x.onload = x.onmessage = () => resolve('open'); x.onerror = () => resolve('refused')`
      expect(await outcome(`const x = new WebSocket('${served.origin.replace('http', 'ws')}/live'); ${ends}`)).toBe(
        'refused',
      )
      const stream = `new EventSource('${api}?watch=true', { withCredentials: true })`
      expect(await outcome(`const x = ${stream}; ${ends}; x.onerror = () => { x.close(); resolve('refused') }`)).toBe(
        'refused',
      )
      for (const [element, attribute] of Object.entries({ script: 'src', img: 'src', link: 'href', object: 'data' })) {
        const rest = element === 'link' ? `x.rel = 'stylesheet';` : ''
        const embed = `const x = document.createElement('${element}'); ${ends}; ${rest} x.${attribute} = '${api}'`
        expect({ element, is: await outcome(`${embed}; document.body.append(x)`) }).toEqual({ element, is: 'refused' })
      }
      await evil.evaluate(`navigator.sendBeacon('${api}', '{"metadata":{"name":"forged"}}')`)
      // Of those whose answers a browser tells of.
      expect(asked.filter(({ status }) => status < 400)).toEqual([])

      const opened = evil.waitForEvent('popup')
      await evil.evaluate(`window.held = window.open('${served.origin}/namespaces')`)
      const popup = await opened
      await popup.getByRole('main').waitFor()
      expect(await popup.evaluate('window.opener')).toBe(null)
      await expect.poll(() => evil.evaluate('window.held.closed')).toBe(true)

      await evil.evaluate(`{
        const form = document.createElement('form')
        form.method = 'post'
        form.enctype = 'text/plain'
        form.action = '${api}'
        const field = document.createElement('input')
        field.name = '{"metadata":{"name":"forged","labels":{"x":"'
        field.value = '"}}}'
        form.append(field)
        document.body.append(form)
        form.submit()
      }`)
      await evil.getByText('this console answers requests of its own page only').waitFor()
      await expect(world.plane.client.get(namespaces, { name: 'forged' })).rejects.toThrow('not found')
      await context.close()
    })
  },
)
