// Shows how far a domain is. All texts of others are set with textContent, so that none of them is read as HTML.
const $ = (id) => document.getElementById(id)
const pause = 2000
let timer, shown

$('add').addEventListener('submit', async (event) => {
  event.preventDefault()
  const domain = plain($('domain').value)
  const { answer, problem } = await ask('domains', { method: 'POST', body: JSON.stringify({ domain }), headers: { 'Content-Type': 'application/json' } })
  $('problem').textContent = problem ?? ''
  $('domain').setAttribute('aria-invalid', String(Boolean(problem)))
  if (problem) return $('domain').focus()
  $('domain').value = answer.domain
  location.hash = answer.domain
  show(answer)
})

addEventListener('hashchange', () => follow(false))
follow(true)

// plain is the domain that a customer means, also if they paste a URL or a name in their own script.
function plain(typed) {
  const text = typed.trim()
  try {
    return new URL(text.includes('://') ? text : 'https://' + text).hostname
  } catch {
    return text
  }
}

async function ask(path, options) {
  try {
    const response = await fetch(path, options)
    const answer = await response.json()
    return response.ok ? { answer } : { problem: answer.error, status: response.status }
  } catch {
    return { problem: 'The page can’t reach its server. Check your connection and try again.', status: 0 }
  }
}

// follow shows the domain in the address of the page, so that a customer can come back later.
async function follow(first) {
  clearTimeout(timer)
  const domain = decodeURIComponent(location.hash.slice(1))
  if (!domain) return
  if (first) $('domain').value = domain
  const { answer, problem, status } = await ask('domains/' + encodeURIComponent(domain))
  if (domain !== decodeURIComponent(location.hash.slice(1))) return
  $('offline').textContent = status === 0 || status >= 500 ? problem : ''
  if (status === 404) return void ($('progress').hidden = true)
  if (answer) show(answer)
  else again()
}

function again() {
  clearTimeout(timer)
  timer = setTimeout(follow, pause, false)
}

function show(p) {
  again()
  const now = JSON.stringify(p)
  if (now === shown) return // a screen reader hears of changes only
  shown = now
  $('progress').hidden = false
  set($('name'), p.domain)
  set($('title'), p.title)
  set($('text'), p.text)
  $('steps').hidden = Boolean(p.stopped)
  Array.from($('steps').children).forEach((li, n) => {
    li.className = n < p.step ? 'done' : n === p.step ? 'now' : ''
    if (n === p.step) li.setAttribute('aria-current', 'step')
    else li.removeAttribute('aria-current')
  })
  $('records').replaceChildren(...p.records.map(record))
  $('visit').hidden = p.step < 4 // visitors do not reach a live domain without its DNS record
  $('link').href = 'https://' + p.domain
  $('link').textContent = 'Open https://' + p.domain
}

// set leaves a text that is the same alone.
function set(element, text) {
  if (element.textContent !== text) element.textContent = text
}

const badges = { Present: '✓ Found', Missing: 'Not found yet', Wrong: 'Wrong value', Unknown: 'Not checked yet' }

function record(r) {
  const card = $('record').content.cloneNode(true)
  const web = r.purpose === 'HTTP'
  card.querySelector('h3').textContent = web ? 'Redirect on your web server' : r.type === 'ALIAS' ? 'ALIAS or ANAME record' : r.type + ' record'
  const badge = card.querySelector('.badge')
  badge.textContent = badges[r.state]
  badge.classList.add(r.state)
  card.querySelector('dl').append(
    value(web ? 'From' : 'Name', web ? 'http://' + r.name : r.name), value(web ? 'To' : 'Value', web ? 'https://' + r.value : r.value))
  if (r.state === 'Wrong' && r.seen?.length) card.querySelector('.seen').textContent = 'We found: ' + r.seen.join(', ')
  return card
}

function value(name, text) {
  const row = $('value').content.cloneNode(true)
  row.querySelector('dt').textContent = name
  row.querySelector('code').textContent = text
  const button = row.querySelector('button')
  button.textContent = 'Copy'
  button.setAttribute('aria-label', `Copy ${name.toLowerCase()}: ${text}`)
  button.addEventListener('click', () => copy(button, text))
  return row
}

async function copy(button, text) {
  try {
    await navigator.clipboard.writeText(text)
    button.textContent = 'Copied'
    setTimeout(() => { button.textContent = 'Copy' }, 2000)
  } catch { // the browser does not allow it: the customer can
    getSelection().selectAllChildren(button.previousElementSibling)
  }
}
