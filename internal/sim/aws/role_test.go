package aws_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	sdkacm "github.com/aws/aws-sdk-go-v2/service/acm"
	"github.com/aws/aws-sdk-go-v2/service/cloudfront"
	sdksts "github.com/aws/aws-sdk-go-v2/service/sts"
	ststypes "github.com/aws/aws-sdk-go-v2/service/sts/types"
	"github.com/google/go-cmp/cmp"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/sim/aws"
)

const (
	dnsRole    = "arn:aws:iam::999988887777:role/path/dns"
	openRole   = "arn:aws:iam::999988887777:role/open"
	deniedRole = "arn:aws:iam::999988887777:role/denied"
)

// roleSim has roles in the foreign account.
func roleSim(t *testing.T) *aws.Sim {
	t.Helper()
	sim := newSim(t)
	if err := sim.Load(aws.Seed{Roles: []aws.SeedRole{{ARN: dnsRole, ExternalID: "cluster/team"}, {ARN: openRole}, {ARN: deniedRole, Denied: true}}}); err != nil {
		t.Fatal(err)
	}
	return sim
}

func stsClient(sim *aws.Sim, who sdk.CredentialsProvider) *sdksts.Client {
	return sdksts.New(sdksts.Options{
		Region: "eu-west-1", BaseEndpoint: sdk.String("http://sim.invalid"), Credentials: who,
		HTTPClient: &http.Client{Transport: sim.Transport()}, Retryer: sdk.NopRetryer{},
	})
}

func homeUser() sdk.CredentialsProvider {
	return credentials.NewStaticCredentialsProvider("AKIAHOME", "secret", "")
}

// assumed returns the credentials of a session.
func assumed(t *testing.T, sim *aws.Sim, arn, session string, seconds int32) (sdk.CredentialsProvider, *ststypes.Credentials) {
	t.Helper()
	out := must[*sdksts.AssumeRoleOutput](t)(stsClient(sim, homeUser()).AssumeRole(t.Context(), &sdksts.AssumeRoleInput{
		RoleArn: &arn, RoleSessionName: &session, ExternalId: sdk.String("cluster/team"), DurationSeconds: &seconds,
	}))
	c := out.Credentials
	return credentials.NewStaticCredentialsProvider(*c.AccessKeyId, *c.SecretAccessKey, *c.SessionToken), c
}

func TestAssumeRole(t *testing.T) {
	sim := roleSim(t)
	who, got := assumed(t, sim, dnsRole, "tenants", 900)
	if !got.Expiration.Equal(startTime.Add(900*time.Second)) || !strings.HasPrefix(*got.AccessKeyId, "ASIA") || len(*got.AccessKeyId) != 20 {
		t.Errorf("credentials: %+v", got)
	}
	identity := must[*sdksts.GetCallerIdentityOutput](t)(stsClient(sim, who).GetCallerIdentity(t.Context(), &sdksts.GetCallerIdentityInput{}))
	if *identity.Account != foreignAcct || *identity.Arn != "arn:aws:sts::999988887777:assumed-role/dns/tenants" || !strings.HasSuffix(*identity.UserId, ":tenants") {
		t.Errorf("identity: %+v", identity)
	}
	t.Run("what it sees is the account of the role", func(t *testing.T) {
		tenants := must[*cloudfront.ListDistributionTenantsOutput](t)(sessionClient(sim, who).ListDistributionTenants(t.Context(), &cloudfront.ListDistributionTenantsInput{}))
		if len(tenants.DistributionTenantList) != 1 || *tenants.DistributionTenantList[0].Name != "foreign" {
			t.Errorf("tenants: %+v", tenants.DistributionTenantList)
		}
	})
	t.Run("the journal tells who did what", func(t *testing.T) {
		var got []aws.Entry
		for _, e := range sim.Journal() {
			got = append(got, aws.Entry{Account: e.Account, Operation: e.Operation, ID: e.ID, Name: e.Name, Caller: e.Caller, ExternalID: e.ExternalID})
		}
		const caller = "arn:aws:sts::999988887777:assumed-role/dns/tenants"
		want := []aws.Entry{
			{Account: aws.DefaultAccount, Operation: "AssumeRole", ID: dnsRole, Name: "tenants", ExternalID: "cluster/team"},
			{Account: foreignAcct, Operation: "GetCallerIdentity", Caller: caller},
			{Account: foreignAcct, Operation: "ListDistributionTenants", Caller: caller},
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("journal (-want +got):\n%s", diff)
		}
	})
	t.Run("a second session has other credentials", func(t *testing.T) {
		_, second := assumed(t, sim, dnsRole, "tenants", 900)
		if *second.AccessKeyId == *got.AccessKeyId || *second.SessionToken == *got.SessionToken {
			t.Error("they are the same")
		}
	})
	t.Run("a role can assume another", func(t *testing.T) {
		_, err := stsClient(sim, who).AssumeRole(t.Context(), &sdksts.AssumeRoleInput{RoleArn: sdk.String(openRole), RoleSessionName: sdk.String("chained"), DurationSeconds: sdk.Int32(3600)})
		if err != nil {
			t.Error(err)
		}
		_, err = stsClient(sim, who).AssumeRole(t.Context(), &sdksts.AssumeRoleInput{RoleArn: sdk.String(openRole), RoleSessionName: sdk.String("chained"), DurationSeconds: sdk.Int32(3601)})
		wantRefusal(t, err, 400, "ValidationError")
	})
}

func sessionClient(sim *aws.Sim, who sdk.CredentialsProvider) *cloudfront.Client {
	return cloudfront.New(cloudfront.Options{
		Region: "us-east-1", BaseEndpoint: sdk.String("http://sim.invalid"), Credentials: who,
		HTTPClient: &http.Client{Transport: sim.Transport()}, Retryer: sdk.NopRetryer{},
	})
}

func TestSessionTagsAreHandedOn(t *testing.T) {
	const trusting, closed = "arn:aws:iam::999988887777:role/tags", "arn:aws:iam::999988887777:role/plain"
	sim := newSim(t)
	if err := sim.Load(aws.Seed{Roles: []aws.SeedRole{{ARN: trusting, TagSession: true}, {ARN: closed}}}); err != nil {
		t.Fatal(err)
	}
	key, value := sdk.String("team"), sdk.String("shop")
	tags := []ststypes.Tag{{Key: key, Value: value}}
	assume := func(who sdk.CredentialsProvider, role string, tags []ststypes.Tag, transitive ...string) (sdk.CredentialsProvider, error) {
		out, err := stsClient(sim, who).AssumeRole(t.Context(), &sdksts.AssumeRoleInput{
			RoleArn: &role, RoleSessionName: sdk.String("tagged"), Tags: tags, TransitiveTagKeys: transitive,
		})
		if err != nil {
			return nil, err
		}
		c := out.Credentials
		return credentials.NewStaticCredentialsProvider(*c.AccessKeyId, *c.SecretAccessKey, *c.SessionToken), nil
	}
	refused := func(t *testing.T, err error) {
		t.Helper()
		wantRefusal(t, err, 403, "AccessDenied")
		wantError(t, err, "is not authorized to perform: sts:TagSession on resource: "+closed)
	}
	plain := must[sdk.CredentialsProvider](t)(assume(homeUser(), trusting, tags))
	transitive := must[sdk.CredentialsProvider](t)(assume(homeUser(), trusting, tags, *key))
	again := must[sdk.CredentialsProvider](t)(assume(transitive, trusting, nil))
	t.Run("a role has to trust tags", func(t *testing.T) {
		_, err := assume(homeUser(), closed, tags)
		refused(t, err)
	})
	t.Run("tags that are not transitive end with their session", func(t *testing.T) {
		if _, err := assume(plain, closed, nil); err != nil {
			t.Error(err)
		}
	})
	t.Run("transitive ones do not", func(t *testing.T) {
		_, err := assume(transitive, closed, nil)
		refused(t, err)
	})
	t.Run("nor after two roles", func(t *testing.T) {
		_, err := assume(again, closed, nil)
		refused(t, err)
	})
}

func TestAssumeRoleRefusals(t *testing.T) {
	for name, tc := range map[string]struct {
		change func(*sdksts.AssumeRoleInput)
		status int
		code   string
	}{
		"an unknown role":                   {func(in *sdksts.AssumeRoleInput) { in.RoleArn = sdk.String("arn:aws:iam::999988887777:role/unknown") }, 403, "AccessDenied"},
		"a role without trust":              {func(in *sdksts.AssumeRoleInput) { in.RoleArn = sdk.String(deniedRole) }, 403, "AccessDenied"},
		"no external id where one is due":   {func(in *sdksts.AssumeRoleInput) { in.ExternalId = nil }, 403, "AccessDenied"},
		"a wrong external id":               {func(in *sdksts.AssumeRoleInput) { in.ExternalId = sdk.String("cluster/other") }, 403, "AccessDenied"},
		"an external id that is too short":  {func(in *sdksts.AssumeRoleInput) { in.ExternalId = sdk.String("x") }, 400, "ValidationError"},
		"an external id that is too long":   {func(in *sdksts.AssumeRoleInput) { in.ExternalId = sdk.String(strings.Repeat("x", 1225)) }, 400, "ValidationError"},
		"an external id with a blank in it": {func(in *sdksts.AssumeRoleInput) { in.ExternalId = sdk.String("my cluster") }, 400, "ValidationError"},
		"a session name that is too short":  {func(in *sdksts.AssumeRoleInput) { in.RoleSessionName = sdk.String("x") }, 400, "ValidationError"},
		"a session name that is too long":   {func(in *sdksts.AssumeRoleInput) { in.RoleSessionName = sdk.String(strings.Repeat("x", 65)) }, 400, "ValidationError"},
		"a session name with a slash in it": {func(in *sdksts.AssumeRoleInput) { in.RoleSessionName = sdk.String("team/dns") }, 400, "ValidationError"},
		"something that is no role":         {func(in *sdksts.AssumeRoleInput) { in.RoleArn = sdk.String("arn:aws:iam::999988887777:user/somebody") }, 400, "ValidationError"},
		"less than a quarter of an hour":    {func(in *sdksts.AssumeRoleInput) { in.DurationSeconds = sdk.Int32(899) }, 400, "ValidationError"},
		"more than twelve hours":            {func(in *sdksts.AssumeRoleInput) { in.DurationSeconds = sdk.Int32(43201) }, 400, "ValidationError"},
	} {
		t.Run(name, func(t *testing.T) {
			sim := roleSim(t)
			in := &sdksts.AssumeRoleInput{RoleArn: sdk.String(dnsRole), RoleSessionName: sdk.String("tenants"), ExternalId: sdk.String("cluster/team")}
			tc.change(in)
			_, err := stsClient(sim, homeUser()).AssumeRole(t.Context(), in)
			wantRefusal(t, err, tc.status, tc.code)
			if tc.code == "AccessDenied" {
				wantError(t, err, "User: arn:aws:iam::111122223333:user/simulated is not authorized to perform: sts:AssumeRole on resource: "+*in.RoleArn)
			}
		})
	}
	t.Run("until the role is let in", func(t *testing.T) {
		sim := roleSim(t)
		if err := sim.Load(aws.Seed{Roles: []aws.SeedRole{{ARN: deniedRole}}}); err != nil {
			t.Fatal(err)
		}
		assumed(t, sim, deniedRole, "tenants", 900)
	})
}

// TestSessionsEnd uses temporary credentials for too long, and without what
// belongs to them.
func TestSessionsEnd(t *testing.T) {
	sim := roleSim(t)
	who, got := assumed(t, sim, dnsRole, "tenants", 900)
	sim.Advance(900*time.Second - time.Millisecond)
	if _, err := stsClient(sim, who).GetCallerIdentity(t.Context(), &sdksts.GetCallerIdentityInput{}); err != nil {
		t.Errorf("before the end: %v", err)
	}
	tokenless := credentials.NewStaticCredentialsProvider(*got.AccessKeyId, *got.SecretAccessKey, "")
	_, err := stsClient(sim, tokenless).GetCallerIdentity(t.Context(), &sdksts.GetCallerIdentityInput{})
	wantRefusal(t, err, 403, "InvalidClientTokenId")
	sim.Advance(time.Millisecond)
	_, err = stsClient(sim, who).GetCallerIdentity(t.Context(), &sdksts.GetCallerIdentityInput{})
	wantRefusal(t, err, 403, "ExpiredToken")
	_, err = sessionClient(sim, who).ListDistributionTenants(t.Context(), &cloudfront.ListDistributionTenantsInput{})
	wantRefusal(t, err, 403, "ExpiredToken")
	_, err = sdkacm.New(sdkacm.Options{
		Region: "us-east-1", BaseEndpoint: sdk.String("http://sim.invalid"), Credentials: who,
		HTTPClient: &http.Client{Transport: sim.Transport()}, Retryer: sdk.NopRetryer{},
	}).ListCertificates(t.Context(), &sdkacm.ListCertificatesInput{})
	wantRefusal(t, err, 400, "ExpiredTokenException")
}

// TestRoleFaults names a role in a fault.
func TestRoleFaults(t *testing.T) {
	sim := roleSim(t)
	must[string](t)(sim.AddFault(aws.Fault{Operation: "AssumeRole", Resource: dnsRole}))
	assumed(t, sim, openRole, "tenants", 900)
	_, err := stsClient(sim, homeUser()).AssumeRole(t.Context(), &sdksts.AssumeRoleInput{RoleArn: sdk.String(dnsRole), RoleSessionName: sdk.String("tenants"), ExternalId: sdk.String("cluster/team")})
	wantRefusal(t, err, 503, "ServiceUnavailable")
}
