/**
 * A `fetch` for one upload that reports its progress, which the browser's own does not.
 * @param onProgress receives the fraction of the body that has been sent, 0 to 1
 */
export function uploadFetch (onProgress: (fraction: number) => void): typeof globalThis.fetch {
  return async (input, init = {}) => await new Promise((resolve, reject) => {
    const request = new XMLHttpRequest()
    const { signal } = init
    request.open(init.method ?? 'GET', input instanceof Request ? input.url : input)
    request.responseType = 'text'
    new Headers(init.headers).forEach((value, name) => { request.setRequestHeader(name, value) })
    const abort = () => { request.abort() }
    signal?.addEventListener('abort', abort)
    request.upload.addEventListener('progress', ({ loaded, total }) => { onProgress(total > 0 ? loaded / total : 0) })
    request.upload.addEventListener('load', () => { onProgress(1) })
    request.addEventListener('load', () => {
      const { status, statusText, responseText } = request
      resolve(new Response(responseText === '' ? null : responseText, {
        status, statusText, headers: headersOf(request),
      }))
    })
    request.addEventListener('error', () => { reject(new TypeError('The connection failed')) })
    request.addEventListener('abort', () => { reject(new DOMException('Aborted', 'AbortError')) })
    request.addEventListener('loadend', () => { signal?.removeEventListener('abort', abort) })
    const { body } = init
    if (signal?.aborted === true) reject(new DOMException('Aborted', 'AbortError'))
    else request.send(body instanceof ReadableStream ? null : body ?? null)
  })
}

function headersOf (request: XMLHttpRequest): Headers {
  const headers = new Headers()
  for (const line of request.getAllResponseHeaders().trim().split(/\r?\n/)) {
    const colon = line.indexOf(':')
    if (colon > 0) headers.append(line.slice(0, colon), line.slice(colon + 1).trim())
  }
  return headers
}
