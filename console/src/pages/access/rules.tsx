import { SafeText } from '../../components/safe-text.js'
import { Loadable } from '../../components/states.js'
import { Table } from '../../components/table.js'
import { admin } from '../../state/session.js'
import { useLoad } from '../../state/use-load.js'
import { formatNumber } from '../../text/format.js'

const POLICIES: Readonly<Record<string, string>> = {
  owner_only: 'owner_only: where no grant matches, the owner of a bank may do everything on it',
  open: 'open: where no grant matches, everybody may do everything',
  deny: 'deny: where no grant matches, nobody may do anything',
}

/** For operators: the rules of the configuration file. */
export function Rules () {
  const rules = useLoad(async (signal) => await admin.value.getAccessRules({ signal }), [])
  return (
    <section class='card' aria-labelledby='access-rules'>
      <h2 id='access-rules'>Rules</h2>
      <Loadable loaded={rules}>
        {({ enabled, default_policy: policy, owner_patterns: patterns, grants, truncated }) => (
          <>
            {!enabled &&
              <p class='notice'>
                Access control is off: everybody may do everything. <code>access_control.enabled</code> switches it on.
              </p>}
            <dl class='facts'>
              <dt>Default policy</dt><dd>{POLICIES[policy] ?? policy}</dd>
              {policy === 'owner_only' && (
                <>
                  <dt>Banks of an owner</dt>
                  <dd>{patterns.length === 0 ? 'none' : <SafeText text={patterns.join(', ')} />}</dd>
                </>
              )}
            </dl>
            {grants.length === 0
              ? <p>The configuration file has no grant.</p>
              : (
                <Table
                  caption='Grants of the configuration file' rows={grants.map((grant, index) => ({ ...grant, index }))}
                  keyOf={({ index }) => String(index)} columns={[
                    {
                      title: 'Bank',
                      isHeader: true,
                      cell: ({ bank_id: bank }) => <SafeText text={bank} isExpandable={false} />,
                    },
                    { title: 'Principal', cell: ({ principal }) => <SafeText text={principal} isExpandable={false} /> },
                    {
                      title: 'Permissions',
                      cell: ({ permissions }) => permissions.map((name) => name === '*' ? 'all' : name).join(', '),
                    },
                    {
                      title: 'Defined in',
                      cell: ({ origin }) => (
                        <span class='access-name'><SafeText text={origin} isExpandable={false} /></span>
                      ),
                    },
                  ]}
                />
                )}
            {truncated && <p class='hint'>Only the first {formatNumber(grants.length)} grants are listed.</p>}
            <p class='hint'>
              Admins of a bank may add grants for it in its configuration; the permissions of principals include them.
            </p>
          </>
        )}
      </Loadable>
    </section>
  )
}
