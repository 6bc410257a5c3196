// Measures the built site in Chromium: no table is wider than its column, on a desktop and on a phone. CHROMIUM names the
// browser; without one, nothing is measured.
import { spawnSync } from 'node:child_process'
import { createReadStream, existsSync, readdirSync, statSync } from 'node:fs'
import { createServer } from 'node:http'
import { extname, join, resolve } from 'node:path'
import puppeteer from 'puppeteer-core'

const out = resolve(process.env.SITE_OUT ?? '../dist/site')
const base = process.env.SITE_URL ? new URL(`${process.env.SITE_VERSION ?? 'next'}/`, process.env.SITE_URL).pathname : '/'
const types = { '.html': 'text/html', '.js': 'text/javascript', '.css': 'text/css', '.svg': 'image/svg+xml', '.json': 'application/json' }

const browsers = [process.env.CHROMIUM, 'chromium', 'chromium-browser', 'google-chrome'].filter(Boolean)
const which = browsers.map((name) => spawnSync('which', [name], { encoding: 'utf8' }).stdout.trim()).find(Boolean)
if (!which) {
  console.log(`The layout is not measured: there is none of ${browsers.join(', ')}.`)
  process.exit(0)
}

const server = createServer((request, response) => {
  const path = join(out, decodeURI(new URL(request.url, 'http://site').pathname).slice(base.length))
  const file = [path, path + '.html', join(path, 'index.html')].find((f) => existsSync(f) && statSync(f).isFile())
  response.writeHead(file ? 200 : 404, { 'content-type': types[extname(file ?? '')] ?? 'application/octet-stream' })
  file ? createReadStream(file).pipe(response) : response.end()
})
await new Promise((listening) => server.listen(0, '127.0.0.1', listening))

const browser = await puppeteer.launch({ executablePath: which, args: ['--no-sandbox'] })
const problems = []
let tables = 0
for (const width of [1440, 390]) {
  const page = await browser.newPage()
  await page.setViewport({ width, height: 900 })
  for (const name of readdirSync(out, { recursive: true }).filter((n) => n.endsWith('.html'))) {
    await page.goto(`http://127.0.0.1:${server.address().port}${base}${name}`, { waitUntil: 'load' })
    const wide = await page.$$eval('.vp-doc table', (all) =>
      all.map((t) => ({ first: t.innerText.slice(0, 40), over: t.scrollWidth - t.parentElement.clientWidth })))
    tables += wide.length
    problems.push(...wide.filter((t) => t.over > 1).map((t) => `${name} at ${width} px: a table is ${t.over} px too wide (${t.first.trim().split(/\s+/).join(' ')})`))
  }
}
await browser.close()
server.close()
problems.forEach((problem) => console.error(problem))
console.log(`${tables} tables measured, ${problems.length} too wide`)
process.exit(problems.length > 0 ? 1 : 0)
