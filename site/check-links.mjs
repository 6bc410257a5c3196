// Checks the built site: every link, picture and script within it leads to a file, and every fragment to an element.
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join, relative, resolve } from 'node:path'

const out = resolve(process.env.SITE_OUT ?? '../dist/site')
const base = process.env.SITE_URL ? new URL(`${process.env.SITE_VERSION ?? 'next'}/`, process.env.SITE_URL).pathname : '/'
const pages = readdirSync(out, { recursive: true }).filter((name) => name.endsWith('.html')).map((name) => join(out, name))
const ids = new Map()

function idsOf(file) {
  if (!ids.has(file)) {
    ids.set(file, new Set([...readFileSync(file, 'utf8').matchAll(/\s(?:id|name)="([^"]+)"/g)].map((m) => m[1])))
  }
  return ids.get(file)
}

function fileOf(path) {
  const file = join(out, path.slice(base.length))
  return [file, file + '.html', join(file, 'index.html')].find((f) => existsSync(f) && statSync(f).isFile())
}

let links = 0
const problems = []
for (const page of pages) {
  const at = 'http://site' + base + relative(out, page).replace(/(^|\/)index\.html$/, '$1').replace(/\.html$/, '')
  for (const [, attribute] of readFileSync(page, 'utf8').matchAll(/\s(?:href|src|srcset)="([^"]*)"/g)) {
    const url = new URL(attribute.replaceAll('&amp;', '&'), at)
    if (url.origin !== 'http://site') {
      continue
    }
    links++
    const file = url.pathname.startsWith(base) ? fileOf(decodeURI(url.pathname)) : undefined
    const fragment = decodeURIComponent(url.hash.slice(1))
    if (!file) {
      problems.push(`${relative(out, page)}: ${attribute} leads nowhere`)
    } else if (fragment && file.endsWith('.html') && !idsOf(file).has(fragment)) {
      problems.push(`${relative(out, page)}: ${attribute}: the page has no such heading`)
    }
  }
}
if (pages.length < 20 || links < 1000) {
  problems.push(`only ${pages.length} pages with ${links} links were found in ${out}`)
}
console.log(`${pages.length} pages, ${links} links within the site, ${problems.length} of them dead`)
for (const problem of new Set(problems)) {
  console.error(problem)
}
process.exitCode = problems.length ? 1 : 0
